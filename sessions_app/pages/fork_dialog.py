"""Forking as a dialog: what the new session will hold, its id, the reason, the step-up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from agentadmin.access.actor import ActorKind
from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.state.interop import parked_calls
from agentadmin.problems import row
from sessions_app.pages.act_dialog import WIDENS
from sessions_app.pages.frame import tab_url
from sessions_app.services.fork import Fork, rehearse_fork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread
    from sessions_app.services.fork import Rehearsal

REFUSED = {409, 422}
"""What a person can do something about within the dialog."""
_REASONS = ("Try another way from here", "Reproduce a fault", "Asked by owner")


@dataclass(slots=True)
class ForkDialog:
    """What a person asks for, and what is known about it so far."""

    actor: Actor
    thread: AgentThread
    version: int
    session_id: str = ""
    reason: str = ""
    rehearsal: Rehearsal | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def fork(self) -> Fork:
        """As the service takes it; an empty id is left to the product."""
        return Fork(
            thread=self.thread,
            version=self.version,
            session_id=self.session_id or None,
            reason=self.reason,
        )

    def rehearse(self) -> None:
        """Find out what the fork would hold; what forbids it is shown."""
        try:
            self.rehearsal = rehearse_fork(actor=self.actor, fork=self.fork)
        except AgentAdminError as error:
            if row(error)[0] not in REFUSED:
                raise
            self.refuse(error)

    def refuse(self, error: AgentAdminError) -> None:
        """Keep what is wrong for the dialog: at the id's field, or above all."""
        if getattr(error, "path", "") == "session_id" or error.code == "session_exists":
            self.notes["id_error"] = error.detail
        else:
            self.notes["error"] = {"title": f"{row(error)[1]}.", "text": error.detail}

    def shown(self) -> dict[str, Any]:
        """The dialog's context."""
        name = self.thread.session.session_id
        return {
            "url": reverse("thread_fork", args=[self.thread.id]),
            "cancel_url": tab_url(self.thread, "history"),
            "cancel_label": "Fork nothing",
            "title": f"Fork version {self.version} of {name}",
            "lead": "A new session begins with this version. The two then go their own ways, and "
            "each says where the other is.",
            "button": f"Fork version {self.version}",
            "icon": "fork",
            "hidden": [("version", str(self.version))],
            "fields_template": "sessions/_fields_fork.html",
            "session_id": self.session_id,
            "reason": self.reason,
            "templates": _REASONS,
            "version": self.version,
            **self._consequences(),
            **self.notes,
        }

    def _consequences(self) -> dict[str, Any]:
        if self.rehearsal is None:
            return {}
        widens = bool(self.rehearsal.widens)
        asks = widens and self.actor.kind is ActorKind.USER and not self.actor.is_fresh
        return {
            "leaves_title": "The fork begins with",
            "leaves_css": "changes",
            "leaves_icon": "arrow",
            "leaves": list(self._begins(self.rehearsal)),
            "stays_title": "Stays here",
            "stays": ["this session, untouched", "its runs, questions and audit trail"],
            "warning": WIDENS if widens else None,
            "step_up": asks,
        }

    def _begins(self, rehearsal: Rehearsal) -> Iterator[str]:
        state = rehearsal.found.state
        messages = len(state.context)
        yield f"{messages} message{'' if messages == 1 else 's'}, as its own history"
        if state.summary:
            yield "the summary of what came before"
        rules = sum(1 for _ in state.permission_context.rules())
        yield f"mode {state.permission_context.mode}, {rules} rule{'' if rules == 1 else 's'}"
        tasks = len(state.tasks_context.tasks)
        yield f"{tasks} task{'' if tasks == 1 else 's'}, plan and tool groups"
        if asked := len(parked_calls(state)):
            yield f"{asked} question{'' if asked == 1 else 's'} that this version waited for, again"
        for way in rehearsal.widens:
            yield f"Beyond what the source allows now, it {way}"
