"""The inbox of questions: who waits how long, what to read twice, who was faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runs_app.pages.approval import warnings_in
from runs_app.states import InteractionStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runs_app.models import Interaction

_SAID = {
    InteractionStatus.APPROVED: "allowed",
    InteractionStatus.DENIED: "denied",
    InteractionStatus.ANSWERED: "answered",
    InteractionStatus.CANCELLED: "withdrew",
    InteractionStatus.EXPIRED: "denied",
}
NOBODY = "the product"
"""Who decides when time runs out, or when the turn is cancelled."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One question in the list."""

    asked: Interaction
    warnings: int
    verdict: str

    @property
    def is_gone(self) -> bool:
        """Whether it is decided."""
        return bool(self.verdict)


def inbox_rows(questions: Iterable[Interaction], chosen: Interaction | None) -> list[InboxRow]:
    """The questions in their order; one that is open on the page stays, decided or not."""
    return [_row(asked) for asked in _with_chosen(list(questions), chosen)]


def _with_chosen(questions: list[Interaction], chosen: Interaction | None) -> Iterator[Interaction]:
    if chosen is not None and all(asked.id != chosen.id for asked in questions):
        yield chosen
    yield from questions


def _row(asked: Interaction) -> InboxRow:
    return InboxRow(asked, warnings_in(asked.input), verdict_of(asked))


def verdict_of(asked: Interaction) -> str:
    """Who decided what; empty while nobody has."""
    if asked.status == InteractionStatus.PENDING:
        return ""
    said = _SAID.get(InteractionStatus(asked.status), asked.status)
    return f"{asked.decided_by or NOBODY} {said} this"


def rule_text(rule: dict[str, Any] | None) -> str:
    """A rule in one line, with where it comes from."""
    if not rule:
        return ""
    content = f": {rule['rule_content']}" if rule.get("rule_content") else ""
    source = f", source {rule['source']}" if rule.get("source") else ""
    return f"{rule.get('tool_name')}{content} ({rule.get('behavior')}{source})"
