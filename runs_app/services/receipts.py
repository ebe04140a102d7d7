"""What a command answers: a receipt of the intent, the same one when it is repeated."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError

from sessions_app.services.idempotency import Answer, Once

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a command has set in motion; `duplicate` when it had been given before."""

    turn_id: str | None
    state: str | None
    revision: int | None = None
    position: int | None = None
    control_id: str | None = None
    interaction_id: str | None = None
    run_id: str | None = None
    duplicate: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The receipt without what does not apply."""
        filled = {name: value for name, value in asdict(self).items() if value is not None}
        return {"turn_id": self.turn_id, **filled}


def once(given: Once, write: Callable[[Once], Receipt]) -> Receipt:
    """Do a write once per request id: a repeated request gets the first receipt.

    `write` opens the transaction and calls `remember` within. Of two concurrent requests the second
    one's key is refused by the database, which undoes its write.
    """
    if (answer := given.answered()) is not None:
        return _repeated(answer)
    try:
        return write(given)
    except IntegrityError:
        if (answer := given.answered()) is not None:
            return _repeated(answer)
        raise


def remember(given: Once, receipt: Receipt) -> None:
    """Keep a receipt in the transaction of its write."""
    given.remember(Answer(202, asdict(receipt)))


def _repeated(answer: Answer) -> Receipt:
    return Receipt(**{**answer.body, "duplicate": True})
