"""What an update of a state asks for: checked, authorised and applied without committing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InteractionPending, InvalidInput, NeedsReconcile
from agentadmin.engine.state import codec
from agentadmin.engine.state.mutations import spec_of
from agentadmin.engine.state.widening import widening
from sessions_app.journal.configured import agent_permissions
from sessions_app.policies import require_thread, require_widening

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.facts import NewFact
    from agentadmin.engine.journal.projection import Item, ThreadProjection
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.operations import OperationSpec
    from sessions_app.models import AgentThread

CONVERSATION = frozenset({"context", "summary"})
"""The parts that may not change under a question, nor in the middle of a turn."""

MAX_OPERATIONS = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """A state before and after, what that means, and what its commit needs to know."""

    before: AgentState
    after: AgentState
    diff: dict[str, Any]
    effects: list[str]
    permissions: frozenset[str] = frozenset()
    """What the change asks for besides the permissions of its operations."""
    items: tuple[Item, ...] = ()
    """Facts that hold messages which come back."""
    notes: tuple[NewFact, ...] = ()
    """Facts that tell what was done."""

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
        for index, (spec, raw) in enumerate(zip(specs, operations, strict=True)):
            spec.check_sent(raw, index)
        return cls(tuple(operations), specs)

    @property
    def touches(self) -> frozenset[str]:
        """The parts of a state that the operations may change."""
        pairs = zip(self.specs, self.operations, strict=True)
        return frozenset().union(*(spec.touches(operation) for spec, operation in pairs))

    @property
    def touches_conversation(self) -> bool:
        """Whether messages or summary may change."""
        return bool(self.touches & CONVERSATION)

    @property
    def name(self) -> str:
        """The operations' names: the reason that facts give."""
        pairs = zip(self.specs, self.operations, strict=True)
        return ", ".join(dict.fromkeys(spec.called(operation) for spec, operation in pairs))

    def why(self, reason: str) -> str:
        """The reason that the version keeps: it also names what the operations' names do not."""
        told = any(spec.words for spec in self.specs)
        return f"{self.name}: {reason}" if told else reason

    def authorise(self, actor: Actor, thread: AgentThread) -> None:
        """Raise unless the actor may do each operation on this very thread."""
        for permission in dict.fromkeys(spec.permission for spec in self.specs):
            require_thread(actor, permission, thread)

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
    """What a change turns out to do may ask for more than the operations' own permissions."""
    require_change(actor, thread, change)
    if change.widens:
        require_widening(actor, thread)


def require_change(actor: Actor, thread: AgentThread, change: Change) -> None:
    """Raise unless the actor may change every part that turns out to change."""
    for permission in sorted(change.permissions):
        require_thread(actor, permission, thread)
