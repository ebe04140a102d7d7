"""The first committed answer of a write, given again to whoever repeats the request.

Refusals are not remembered: what was refused may be asked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import IdempotencyMismatch
from agentadmin.engine.identity import check_id
from agentadmin.engine.state import codec
from sessions_app.models import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

    from agentadmin.access.actor import Actor


@dataclass(frozen=True, slots=True)
class Answer:
    """What a write answered: an HTTP status and a body of plain values."""

    status: int
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Once:
    """One write that happens once per request id; without an id it simply happens."""

    actor: str
    route: str
    target: str
    key: str | None
    body_sha256: str

    @classmethod
    def of(
        cls, actor: Actor, route: str, target: str, request_id: str | None, body: Mapping[str, Any]
    ) -> Once:
        """A caller's request; two end users behind one account are two callers."""
        if request_id is not None:
            check_id(request_id, "request_id")
        caller = codec.dumps([str(actor.kind), actor.id or actor.name, actor.bound_user_id])
        return cls(caller, route, target, request_id, codec.sha256(codec.dumps(dict(body))))

    def answered(self) -> Answer | None:
        """The first answer, if there was one. Raises IdempotencyMismatch for another body."""
        if self.key is None:
            return None
        row = self._row().first()
        if row is None:
            return None
        if row.body_sha256 != self.body_sha256:
            raise IdempotencyMismatch
        return Answer(row.status, codec.loads(row.answer))

    def remember(self, answer: Answer) -> None:
        """Keep the answer, in the transaction of the write.

        Of two concurrent requests with one id the second fails here with IntegrityError, which
        undoes its write; `answered` then has the first one's answer.
        """
        if self.key is None:
            return
        IdempotencyKey.objects.create(
            actor=self.actor,
            route=self.route,
            target=self.target,
            key=self.key,
            identity_hash=self._identity(),
            body_sha256=self.body_sha256,
            status=answer.status,
            answer=codec.dumps(answer.body),
        )

    def amend(self, answer: Answer) -> None:
        """The answer turned out better within the same request: it is this one that is repeated."""
        if self.key is not None:
            self._row().update(status=answer.status, answer=codec.dumps(answer.body))

    def forget(self) -> None:
        """The write was refused after all: the request may be made again."""
        if self.key is not None:
            self._row().delete()

    def _row(self) -> QuerySet[IdempotencyKey]:
        return IdempotencyKey.objects.filter(identity_hash=self._identity())

    def _identity(self) -> str:
        return codec.sha256(codec.dumps([self.actor, self.route, self.target, self.key]))
