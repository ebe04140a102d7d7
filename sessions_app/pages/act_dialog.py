"""One act on a state as a dialog: dry run, reason, version, step-up, and the draft kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from agentadmin.access.actor import ActorKind
from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.state import codec
from agentadmin.problems import row
from sessions_app.pages.audit import change_lines
from sessions_app.pages.frame import tab_url
from sessions_app.selectors.threads import state_at
from sessions_app.services.update_state import OnBusy, update_agent_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.access.actor import Actor
    from sessions_app.forms import OperationForm
    from sessions_app.models import AgentThread
    from sessions_app.pages.act_kind import ActKind
    from sessions_app.services.idempotency import Answer

MIN_REASON = 10
SHORT_REASON = "Say in at least 10 characters why; it is kept in the audit trail."
WIDENS = {
    "level": "bad",
    "title": "This widens what the agent may do.",
    "text": "It needs a fresh sign-in, and the audit shows it as a widening.",
}
BUSY_NOTE = "A run holds the thread: the change is applied between its steps and reported here."
DRY_RUN = "dry run"
ONE_LINE = 72
CHANGED = {
    "level": "wait",
    "title": "The fields have changed; nothing was done yet.",
    "text": "This is what it would do now. Confirm it to go on.",
}
NOTHING = "Nothing: the state is like that already."
MOST_PLACES = 20


@dataclass(slots=True)
class ActDialog:
    """What a person asks for on one thread, and what is known about it so far."""

    actor: Actor
    thread: AgentThread
    kind: ActKind
    form: OperationForm
    reason: str = ""
    on_busy: str = OnBusy.WAIT
    rehearsal: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def operation(self) -> dict[str, Any]:
        """The operation as `updateAgentState` takes it; the form must be valid."""
        return {"op": self.kind.op, **self.form.operation()}

    @property
    def draft(self) -> str:
        """Marks what was rehearsed, so that nobody confirms what they did not see."""
        meant = [self.kind.op, self.form.meant()]
        return codec.sha256(codec.dumps(meant, levels=codec.WRAPPED))

    def rehearse(self) -> None:
        """Find out what the operation would do to the newest version."""
        try:
            self.rehearsal = self._update(DRY_RUN, None, dry_run=True).body
        except AgentAdminError as error:
            if row(error)[0] not in {409, 422}:
                raise
            self.refuse(error)

    def refuse(self, error: AgentAdminError) -> None:
        """Keep what is wrong for the dialog to show."""
        title = row(error)[1]
        self.notes["error"] = {"title": f"{title}.", "text": error.detail}

    def apply(self, expected_version: int | None) -> Answer:
        """Do it. Raises what `update_agent_state` does."""
        return self._update(self.reason, expected_version, dry_run=False)

    def _update(self, reason: str, version: int | None, *, dry_run: bool) -> Answer:
        return update_agent_state(
            actor=self.actor,
            thread=self.thread,
            reason=reason,
            operations=[self.operation],
            expected_version=version,
            on_busy=self.on_busy,
            dry_run=dry_run,
        )

    def shown(self) -> dict[str, Any]:
        """The dialog's context."""
        kind, words = self.kind, self._words()
        return {
            "url": reverse("thread_act", args=[self.thread.id, kind.op]),
            "cancel_url": tab_url(self.thread, kind.tab),
            "cancel_label": kind.keep,
            "title": kind.title.format(**words),
            "lead": kind.lead.format(**words),
            "button": kind.button.format(**words) if self.rehearsal else "Show what it would do",
            "icon": kind.icon,
            "danger": bool(self.rehearsal) and (kind.danger or self.rehearsal["widens"]),
            "fields_template": "sessions/_act_fields.html",
            "fields": kind.fields,
            "agent_id": self.thread.agent_id,
            "form": self.form,
            "busy": self.thread.active_run_id is not None,
            "on_busy": self.on_busy,
            "hidden": self._hidden(),
            "reason": self.reason,
            "templates": kind.reasons,
            **self._consequences(),
            **self.notes,
        }

    def _effects(self) -> Iterator[str]:
        """What changes, with the numbers that the header shows."""
        yield from self.rehearsal["effects"] or self._told() or [NOTHING]
        if self.kind.op == "clear_context" and self.thread.context_tokens:
            yield f"{self.thread.context_tokens:,} tokens: the gauge goes to 0 %"

    def _told(self) -> list[str]:
        """The places that change where no sentence says what that means."""
        lines = [line.text for line in change_lines(self.rehearsal["diff"]) if not line.sign]
        return [f"Changes {text}" for text in lines[:MOST_PLACES]]

    def _words(self) -> dict[str, str]:
        given = self.form.data if self.form.is_bound else {}
        words = {name: str(given.get(name, "")) for name in ("mode", "decision", "version")}
        words["decision"] = words["decision"].capitalize() or "Decide"
        return {"name": self.thread.session.session_id, **words}

    def _hidden(self) -> list[tuple[str, str]]:
        hidden = [] if self.kind.fields else list(self.form.kept())
        return [*hidden, ("draft", self.draft)] if self.rehearsal else hidden

    def _consequences(self) -> dict[str, Any]:
        """What the dry run said; nothing before there was one."""
        if not self.rehearsal:
            return {"version": None}
        version = self.rehearsal["version"]
        widens = self.rehearsal["widens"]
        asks = widens and self.actor.kind is ActorKind.USER and not self.actor.is_fresh
        return {
            "version": version,
            "leaves_title": self.kind.leaves_title,
            "leaves_css": "gone" if self.kind.danger else "changes",
            "leaves_icon": "g-deny" if self.kind.danger else "arrow",
            "leaves": [*self._effects()],
            "stays": self.kind.stays(state_at(self.thread).state),
            "patch_title": f"Exact patch, dry run on version {version}",
            "patch": _patch([self.operation]),
            "warning": WIDENS if widens else None,
            "step_up": asks,
            "note": BUSY_NOTE if self.thread.active_run_id else "",
        }


def _patch(operations: list[dict[str, Any]]) -> str:
    """In one line where it fits, else indented."""
    line = codec.dumps(operations)
    return line if len(line) <= ONE_LINE else codec.pretty(operations)
