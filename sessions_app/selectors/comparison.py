"""Two states beside each other: two versions of one thread, or of two threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.diff import diff
from agentadmin.engine.state.effects import effects
from agentadmin.engine.state.message_diff import message_changes
from sessions_app.selectors.checkpoint_words import title_of
from sessions_app.selectors.checkpoints import checkpoint
from sessions_app.selectors.threads import state_at, states_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentadmin.engine.state.message_diff import MessageChange
    from sessions_app.models import AgentThread
    from sessions_app.selectors.checkpoints import Checkpoint
    from sessions_app.selectors.threads import StateAt


@dataclass(frozen=True, slots=True)
class Side:
    """One of two states: whose, at which version, and what made it (None: nothing, it began)."""

    thread: AgentThread
    found: StateAt
    made: Checkpoint | None

    @property
    def version(self) -> int:
        """The version that is compared."""
        return self.found.version

    @property
    def title(self) -> str | None:
        """What made it, in a few words."""
        return title_of(self.made) if self.made else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is different, structurally, in sentences, and message by message."""

    before: Side
    after: Side
    diff: dict[str, Any]
    effects: Sequence[str]
    messages: Sequence[MessageChange]

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both, the older one first."""
        return self.before, self.after


def compare(
    thread: AgentThread,
    before: int | None = None,
    after: int | None = None,
    *,
    other: AgentThread | None = None,
    known: Sequence[Checkpoint] = (),
) -> Comparison:
    """`after` is the newest version unless given, `before` the one before it (0 is empty).

    With another thread, `after` is a version of that one, and `before` the newest of this one.
    `known` are versions of the first thread that need not be looked up again.
    """
    made = {each.version: each for each in known}
    if other is None:
        old, new = _sides(thread, before, after, made)
    else:
        old = _side(thread, state_at(thread, before), made)
        new = _side(other, state_at(other, after), {})
    was, now = old.found.state, new.found.state
    if old.version == 0:
        # Nobody replied yet: the id that a fresh state is given is no difference.
        was.reply_id = now.reply_id
    changes = message_changes(was.context, now.context)
    return Comparison(old, new, diff(was, now), effects(was, now), changes)


def _sides(
    thread: AgentThread, before: int | None, after: int | None, made: Mapping[int, Checkpoint]
) -> tuple[Side, Side]:
    newer = thread.version if after is None else after
    older = max(newer - 1, 0) if before is None else before
    old, new = states_at(thread, older, newer)
    return _side(thread, old, made), _side(thread, new, made)


def _side(thread: AgentThread, found: StateAt, made: Mapping[int, Checkpoint]) -> Side:
    return Side(thread, found, made.get(found.version) or checkpoint(thread, found.version))
