"""StateLog: where a run keeps its state; the journal of a thread, or one slot of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from agentadmin.engine.context.tokens import estimate
from agentadmin.engine.journal.base import Release
from agentadmin.engine.journal.loading import refresh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentadmin.engine.identity import ThreadKey
    from agentadmin.engine.journal.facts import Fact, NewFact
    from agentadmin.engine.journal.projection import OpenDispatch, OpenInteraction
    from agentadmin.engine.journal.writer import JournalWriter
    from agentadmin.engine.messages import Msg
    from agentadmin.engine.state.agent_state import AgentState


class StateLog(Protocol):
    """The loop changes `state` and flushes; facts that do not change the state go along."""

    @property
    def key(self) -> ThreadKey: ...

    @property
    def writer(self) -> JournalWriter | None:
        """The journal's writer, where there is a journal."""

    @property
    def state(self) -> AgentState: ...

    def put_state(self, state: AgentState) -> None:
        """Go on with another working state of the same thread."""

    @property
    def fresh(self) -> bool:
        """Whether no state was ever committed, so that the agent's defaults apply."""

    @property
    def uncertain(self) -> Mapping[str, OpenDispatch]:
        """Started calls with outside effects whose outcome nobody committed."""

    @property
    def interactions(self) -> Mapping[str, OpenInteraction]:
        """Questions to people that no run has taken the answer of."""

    def open_turn(self) -> str | None:
        """The turn that has not ended, if there is one."""

    def has_ended(self, start_seq: int) -> bool:
        """Whether the turn that was accepted at this seq is over."""

    def bind(self, turn_id: str, run_id: str) -> None:
        """Say whose facts follow."""

    def at_step(self, step_id: str | None) -> None:
        """Say which step the following facts belong to."""

    def bind_inputs(self, messages: Sequence[Msg], seq: int | None) -> None:
        """Say which `turn/start` holds these messages (None: the one of the next flush)."""

    def unread(self, turn_id: str) -> Sequence[Fact]:
        """What the turn was told since it was submitted and has not taken, oldest first."""

    async def catch_up(self) -> None:
        """Learn what others have told the thread since the last commit."""

    def fact(self, type_: str, payload: dict[str, Any]) -> NewFact:
        """A fact of the current turn, run and step."""

    def tokens(self) -> int:
        """Estimated tokens of the working context."""

    async def flush(
        self,
        facts: Sequence[NewFact] = (),
        *,
        before: Sequence[NewFact] = (),
        reason: str,
        release: Release = Release.NEVER,
    ) -> bool:
        """Commit everything that changed, in one batch; True when the lease was given back."""

    async def last_fact(self, type_: str, turn_id: str, after: int) -> Fact | None:
        """The newest fact of this type and turn after a seq."""


class JournalLog:
    """A StateLog over the journal's writer."""

    def __init__(self, writer: JournalWriter) -> None:
        self._writer = writer
        self.released = False

    @property
    def writer(self) -> JournalWriter:
        return self._writer

    @property
    def key(self) -> ThreadKey:
        return self.writer.ref.key

    @property
    def state(self) -> AgentState:
        return self.writer.state

    def put_state(self, state: AgentState) -> None:
        self.writer.state = state

    @property
    def fresh(self) -> bool:
        return not self.writer.projection.substate

    @property
    def uncertain(self) -> Mapping[str, OpenDispatch]:
        return self.writer.projection.uncertain

    @property
    def interactions(self) -> Mapping[str, OpenInteraction]:
        return self.writer.projection.interactions

    def open_turn(self) -> str | None:
        starts = list(self.writer.projection.inputs.values())
        return starts[-1].turn_id if starts else None

    def has_ended(self, start_seq: int) -> bool:
        return start_seq not in self.writer.projection.inputs

    def bind(self, turn_id: str, run_id: str) -> None:
        self.writer.turn_id, self.writer.run_id = turn_id, run_id

    def at_step(self, step_id: str | None) -> None:
        self.writer.step_id = step_id

    def bind_inputs(self, messages: Sequence[Msg], seq: int | None) -> None:
        self.writer.bind_inputs(messages, seq)

    def unread(self, turn_id: str) -> Sequence[Fact]:
        known = self.writer.projection
        told = (known.steering[seq] for seq in sorted(known.unread))
        return [fact for fact in told if fact.turn_id == turn_id]

    async def catch_up(self) -> None:
        await refresh(self.writer.store, self.writer.projection)

    def fact(self, type_: str, payload: dict[str, Any]) -> NewFact:
        return self.writer.fact(type_, payload)

    def tokens(self) -> int:
        """Committed messages were counted once; only new ones are counted here."""
        context = self.writer.state.context_mutable()
        total, known = 0, 0
        for message, item in zip(context, self.writer.projection.items.values(), strict=False):
            known += 1
            total += item.tokens if item.msg is message else estimate(message)
        return total + sum(estimate(message) for message in context[known:])

    async def flush(
        self,
        facts: Sequence[NewFact] = (),
        *,
        before: Sequence[NewFact] = (),
        reason: str,
        release: Release = Release.NEVER,
    ) -> bool:
        committed = await self.writer.flush(facts, before=before, reason=reason, release=release)
        self.released = committed is not None and committed.released
        return self.released

    async def last_fact(self, type_: str, turn_id: str, after: int) -> Fact | None:
        found: Fact | None = None
        while page := await self.writer.store.facts(
            self.writer.ref, after=after, limit=500, types={type_}
        ):
            found = next((f for f in reversed(page) if f.turn_id == turn_id), found)
            after = page[-1].seq
        return found
