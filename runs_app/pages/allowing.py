"""Approving with edited arguments, or together with a rule, as the one dialog."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from agentadmin.access.actor import ActorKind
from agentadmin.engine.state import codec
from runs_app.forms import ArgumentsForm
from runs_app.pages.approval import arguments_of, findings_about
from runs_app.services.respond import respond_interaction
from sessions_app.pages.act_dialog import MIN_REASON, SHORT_REASON, WIDENS
from sessions_app.pages.answers import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.access.actor import Actor
    from runs_app.models import Interaction
    from runs_app.pages.approval import Finding

_STAYS = ["this approval is for this one call", "every other rule", "messages, tasks and plan"]


@dataclass(slots=True)
class Allowing:
    """One dialog that approves a call in another way than as it stands."""

    actor: Actor
    asked: Interaction
    how: str
    given: Mapping[str, str]
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """What was written."""
        return self.given.get("reason", "")

    @property
    def problem(self) -> dict[str, Any]:
        """What is wrong with the fields, for the dialog to show."""
        if len(self.reason.strip()) < MIN_REASON:
            return {"reason_error": SHORT_REASON}
        return {} if self.how != "edited" or self.form.is_valid() else {"form": self.form}

    @property
    def form(self) -> ArgumentsForm:
        """The edited arguments."""
        return ArgumentsForm(self.given)

    @property
    def rules(self) -> list[dict[str, Any]]:
        """The rules that were suggested for this call."""
        suggested = codec.loads(self.asked.suggested_rules)
        found: list[dict[str, Any]] = suggested if isinstance(suggested, list) else []
        return found

    def do(self) -> Notice:
        """Approve. Raises what the service does."""
        more: dict[str, Any] = {"rules": self.rules if self.how == "rule" else []}
        if self.how == "edited":
            form = self.form
            form.full_clean()
            more = {"input": form.cleaned_data["input"]}
        respond_interaction(
            actor=self.actor,
            interaction_id=self.asked.id,
            decision="approve",
            call_hash=self.asked.call_hash,
            reason=self.reason,
            **more,
        )
        return Notice("good", "Approved.", f"{self.asked.tool} runs now.")

    def shown(self) -> dict[str, Any]:
        """The dialog's context."""
        words = {"rule": self._rule_words, "once": self._once_words, "edited": self._edit_words}
        return {
            "url": reverse(f"allow_{self.how}", args=[self.asked.id]),
            "cancel_url": reverse("approval", args=[self.asked.id]),
            "cancel_label": "Decide later",
            "version": None,
            "reason": self.reason,
            "asked": self.asked,
            **words[self.how](),
            **self.notes,
        }

    def _rule_words(self) -> dict[str, Any]:
        asks = self.actor.kind is ActorKind.USER and not self.actor.is_fresh
        return {
            "title": f"Allow {self.asked.tool} and add a rule",
            "lead": "This call runs, and calls like it will not be asked about any more.",
            "button": "Allow and add the rule",
            "danger": True,
            "leaves": [_rule_text(rule) for rule in self.rules],
            "stays": _STAYS[1:],
            "patch": codec.pretty(self.rules),
            "patch_title": "Exact rules",
            "warning": WIDENS,
            "step_up": asks,
        }

    def _once_words(self) -> dict[str, Any]:
        found = findings_about(self.asked)
        return {
            "title": f"Allow {self.asked.tool} once",
            "lead": "Exactly this call runs. Read again what is unusual about it.",
            "button": f"Allow {self.asked.tool} once",
            "danger": bool(found),
            "leaves_title": "Runs",
            "leaves": [f"{self.asked.tool}, once, with the arguments below"],
            "leaves_css": "changes",
            "leaves_icon": "arrow",
            "stays": _STAYS,
            "patch": codec.pretty(codec.loads(self.asked.input)),
            "patch_title": "Exact call",
            "warning": _warning(found),
        }

    def _edit_words(self) -> dict[str, Any]:
        return {
            "title": f"Edit the call of {self.asked.tool}",
            "lead": "The agent is told that a person changed the arguments.",
            "button": "Allow the edited call",
            "leaves": ["the arguments of this one call"],
            "stays": _STAYS[:1] + _STAYS[2:],
            "fields_template": "runs/_fields_arguments.html",
            "arguments": self.given.get("input") or codec.pretty(codec.loads(self.asked.input)),
            "names": [argument.name for argument in arguments_of(self.asked.input)],
        }


def _warning(found: list[Finding]) -> dict[str, str] | None:
    """What is unusual about a call, above everything else in its dialog."""
    if not found:
        return None
    text = " ".join(f"{finding.title} {finding.text}" for finding in found)
    return {"level": "bad", "title": "Look twice.", "text": text}


def _rule_text(rule: dict[str, Any]) -> str:
    content = f" {rule['rule_content']}" if rule.get("rule_content") else ""
    return f"adds the rule {rule.get('behavior')} {rule.get('tool_name')}{content}"
