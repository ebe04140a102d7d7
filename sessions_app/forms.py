"""The forms of the sessions pages; each says in its own words what is wrong with a field."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms

from agentadmin.engine.clock import iso, now
from agentadmin.engine.state.permissions import Behavior, PermissionMode

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ID = 256
MAX_PATTERN = 2_000
MAX_SUMMARY = 200_000
RULE_SOURCE = "operator"


class NewSessionForm(forms.Form):
    """The identity of a new session; user and id may be left to the product."""

    agent_id = forms.CharField(
        label="Agent",
        max_length=MAX_ID,
        initial="demo",
        error_messages={"required": "Name the agent."},
    )
    session_id = forms.CharField(label="Session id", max_length=MAX_ID, required=False, strip=False)
    user_id = forms.CharField(label="User", max_length=MAX_ID, required=False, strip=False)


class OperationForm(forms.Form):
    """The fields of one operation of `updateAgentState`."""

    def operation(self) -> dict[str, Any]:
        """The operation without its name."""
        return dict(self.cleaned_data)

    def meant(self) -> dict[str, Any]:
        """What a person confirms: the same for a field left out as for its usual value."""
        return self.operation()

    def kept(self) -> Iterator[tuple[str, str]]:
        """The fields as they came, to travel with a dialog that does not show them."""
        for name in self.fields:
            if name in self.data:
                yield name, str(self.data[name])


class NothingForm(OperationForm):
    """An operation without fields."""


class VersionForm(OperationForm):
    """The version that is meant."""

    version = forms.IntegerField(min_value=1, max_value=10**15)


class SummaryForm(OperationForm):
    """A new summary; empty means none."""

    summary = forms.CharField(max_length=MAX_SUMMARY, required=False, strip=False)


class ModeForm(OperationForm):
    """One of the permission modes."""

    mode = forms.ChoiceField(choices=[(mode.value, mode.value) for mode in PermissionMode])


class RuleKeyForm(OperationForm):
    """What names a rule."""

    behavior = forms.ChoiceField(
        label="Answer",
        choices=[(b.value, b.value) for b in (Behavior.DENY, Behavior.ASK, Behavior.ALLOW)],
    )
    tool_name = forms.CharField(
        label="Tool",
        max_length=MAX_ID,
        strip=False,
        error_messages={"required": "Name the tool that the rule is about."},
    )
    rule_content = forms.CharField(
        label="Pattern", max_length=MAX_PATTERN, required=False, strip=False
    )
    source = forms.CharField(max_length=MAX_ID, required=False, strip=False)

    def operation(self) -> dict[str, Any]:
        """Empty text means absent."""
        given = self.cleaned_data
        return {
            "behavior": given["behavior"],
            "tool_name": given["tool_name"],
            "rule_content": given["rule_content"] or None,
            "source": given["source"] or None,
        }


class NewRuleForm(RuleKeyForm):
    """A rule to add, with how long it counts."""

    LASTS = (
        ("", "until it is removed"),
        ("900", "15 minutes"),
        ("3600", "1 hour"),
        ("28800", "8 hours"),
        ("86400", "1 day"),
    )
    lasts = forms.ChoiceField(label="Counts for", choices=LASTS, required=False)

    def meant(self) -> dict[str, Any]:
        """How long it counts, not until when: the clock goes on while a person reads."""
        return dict(self.cleaned_data)

    def operation(self) -> dict[str, Any]:
        """An expiry is an instant from now on."""
        rule = super().operation() | {"source": self.cleaned_data["source"] or RULE_SOURCE}
        if lasts := self.cleaned_data["lasts"]:
            rule["expires_at"] = iso(now() + timedelta(seconds=int(lasts)))
        return rule
