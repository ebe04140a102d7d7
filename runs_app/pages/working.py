"""The working context: exactly the messages that the model's next request begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.clock import now
from runs_app.pages.conversation import PAGE, Conversation
from runs_app.pages.scan import Scan, Surroundings
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import Entry
from sessions_app.templatetags.times import moment

if TYPE_CHECKING:
    from agentadmin.engine.messages import Msg
    from sessions_app.models import AgentThread


def working_context(thread: AgentThread, before: int | None) -> Conversation:
    """A page of the context from its end; places count messages from 1."""
    context = state_at(thread).state.context
    end = len(context) if before is None else min(max(before - 1, 0), len(context))
    start = max(end - PAGE, 0)
    entries = [_entry(n, context[n - 1]) for n in range(start + 1, end + 1)]
    about = Surroundings({}, {}, frozenset(), thread.agent_id, thread.session.user_id or "user")
    return Conversation(Scan(about).run(entries, ()), start + 1 if start else None)


def _entry(place: int, message: Msg) -> Entry:
    return Entry(
        seq=place,
        item=message.id or str(place),
        type="",
        at=moment(message.timestamp) or now(),
        turn_id=None,
        run_id=None,
        message=message.to_dict(),
        in_context=True,
        changed_seq=None,
    )
