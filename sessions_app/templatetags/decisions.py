"""Permission decisions as capitals: the verdict, then the rule or step, then who."""

from dataclasses import dataclass

from django import template
from django.utils.safestring import SafeString

from sessions_app.templatetags.inline import draw

register = template.Library()


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one behaviour is shown."""

    glyph: str
    word: str
    css: str


VERDICTS = {
    "allow": Verdict("g-done", "ALLOW", "allow"),
    "ask": Verdict("g-question", "ASK", "ask"),
    "deny": Verdict("g-deny", "DENY", "deny"),
}

# The steps of the decision (`engine/state/permissions/decision.py`) in words an operator reads.
BECAUSE = {
    "plan_mode": "plan mode",
    "deny_rule": "deny rule",
    "tool_check": "tool check",
    "safety_check": "safety check",
    "explore": "explore mode",
    "ask_rule": "ask rule",
    "allow_rule": "allow rule",
    "accept_edits": "accept-edits mode",
    "read_only_command": "read-only command",
    "tool_ask": "the tool asks by itself",
    "bypass": "bypass mode",
    "dont_ask": "dont-ask mode",
    "mode": "no rule decided",
}


@register.filter
def because(step: object) -> str:
    """Name the step that decided; an unknown one keeps its own words."""
    return BECAUSE.get(str(step or ""), str(step or "").replace("_", " "))


@register.filter
def verdict(behavior: object) -> Verdict:
    """Find how a behaviour is shown; an unknown one is shown as a question."""
    name = str(behavior or "").lower()
    return VERDICTS.get(name) or Verdict("g-question", name.upper() or "UNKNOWN", "ask")


@register.simple_tag
def decision(
    behavior: object, *, rule: str = "", why: str = "", final: object = "", by: str = ""
) -> SafeString:
    """Show a decision, and the person's answer (`final`, `by`) when it had asked."""
    shown = {"first": behavior, "rule": rule, "why": why, "final": final, "by": by}
    return draw("_decision.html", shown)
