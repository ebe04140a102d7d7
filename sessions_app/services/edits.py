"""What an update of a state asks for: checked, authorised and applied without committing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import now
from agentadmin.engine.errors import InteractionPending, InvalidInput, NeedsReconcile
from agentadmin.engine.state import codec
from agentadmin.engine.state.mutations import apply_all, diff, effects, spec_of
from agentadmin.engine.state.widening import widening
from sessions_app.journal.configured import agent_permissions
from sessions_app.policies import require_thread, require_widening

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.projection import ThreadProjection
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.operations import OperationSpec
    from sessions_app.models import AgentThread

CONVERSATION = frozenset({"context", "summary"})
"""The parts that may not change under a question, nor in the middle of a turn."""

MAX_OPERATIONS = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """A state before and after, and what that means."""

    before: AgentState
    after: AgentState
    diff: dict[str, Any]
    effects: list[str]

    @property
    def widens(self) -> bool:
        """Whether calls may pass that did not pass before."""
        return bool(widening(self.before.permission_context, self.after.permission_context))


@dataclass(frozen=True, slots=True)
class Edit:
    """Operations that commit together or not at all."""

    operations: tuple[dict[str, Any], ...]
    specs: tuple[OperationSpec, ...]

    @classmethod
    def parse(cls, operations: Any) -> Edit:
        """The operations as they came; a wrong one is named by its index."""
        if not isinstance(operations, list | tuple):
            raise InvalidInput("must be an array of operations", path="operations")
        if not 1 <= len(operations) <= MAX_OPERATIONS:
            raise InvalidInput(f"must hold 1 to {MAX_OPERATIONS} operations", path="operations")
        specs = tuple(spec_of(raw, index=index) for index, raw in enumerate(operations))
        return cls(tuple(operations), specs)

    @property
    def touches(self) -> frozenset[str]:
        """The parts of a state that the operations may change."""
        return frozenset().union(*(spec.substates for spec in self.specs))

    @property
    def touches_conversation(self) -> bool:
        """Whether messages or summary may change."""
        return bool(self.touches & CONVERSATION)

    @property
    def name(self) -> str:
        """The operations' names: the reason that facts give."""
        return ", ".join(dict.fromkeys(spec.name for spec in self.specs))

    def authorise(self, actor: Actor, thread: AgentThread) -> None:
        """Raise unless the actor may do each operation on this very thread."""
        for permission in dict.fromkeys(spec.permission for spec in self.specs):
            require_thread(actor, permission, thread)

    def change(self, state: AgentState) -> Change:
        """The state after all operations; the given one stays as it is."""
        after = apply_all(state, self.operations, now=now())
        return Change(state, after, diff(state, after), effects(state, after))

    def check_parked(self, projection: ThreadProjection) -> None:
        """Refuse what a parked thread forbids (design §5)."""
        if projection.uncertain:
            raise NeedsReconcile(projection.uncertain)
        if projection.pending and self.touches_conversation:
            raise InteractionPending(question.id for question in projection.pending)

    def base(self, projection: ThreadProjection) -> dict[str, Any]:
        """What the touched parts are now, so that a later application finds them unchanged.

        New messages do not count: a run may say something before the context is cleared.
        """
        return {name: _mark(projection, name) for name in sorted(self.touches)}


def _mark(projection: ThreadProjection, name: str) -> int | str:
    if name == "context":
        return projection.replaced_seq
    held = projection.substate if name in projection.substate else _first(projection)
    return codec.sha256(codec.dumps(held.get(name)))


def _first(projection: ThreadProjection) -> dict[str, Any]:
    """What a thread's first run is about to write down: asked before it, an edit fits after it."""
    state = projection.state()
    state.permission_context = agent_permissions(projection.ref.key.agent_id)
    return state.substates()


def authorise_change(actor: Actor, thread: AgentThread, change: Change) -> None:
    """Widening asks for more than the operation's own permission."""
    if change.widens:
        require_widening(actor, thread)
