"""Agents as their pages show them: tools, permissions in words, versions, what differs."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import Behavior, PermissionMode
from runs_app.definitions.comparing import compare, context_in
from runs_app.pages.erasure import is_long_enough
from runs_app.profiles import PROFILES
from sessions_app.pages.act_dialog import SHORT_REASON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentadmin.engine.tools.toolkit import Tool
    from runs_app.models import Run
    from runs_app.selectors.agents import AgentView

Json = dict[str, Any]

MOST_LINES = 400
REASONS = ("Replaced by another agent", "No longer in use", "It misbehaved")

MODE_WORDS = {
    PermissionMode.DEFAULT: ("ask", "Every call that no rule speaks about asks a person first."),
    PermissionMode.ACCEPT_EDITS: (
        "allow",
        "File edits in the working directories pass; every other call asks first.",
    ),
    PermissionMode.EXPLORE: ("deny", "Only tools that change nothing run; all others are denied."),
    PermissionMode.BYPASS: (
        "allow",
        "Every call runs without a question, unless a rule denies it.",
    ),
    PermissionMode.DONT_ASK: ("deny", "Every call that no rule allows is denied without asking."),
}
_RULE_WORDS = {
    Behavior.DENY: "is denied, whatever else says",
    Behavior.ASK: "asks a person first",
    Behavior.ALLOW: "runs without asking",
}


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence about permissions, with the answer that it ends in."""

    answer: str
    text: str
    tool: str = ""
    pattern: str = ""


def in_words(definition: Json) -> list[Said]:
    """What the agent may do, in the order in which it is decided."""
    context = context_in(definition)
    found: list[Said] = []
    for behavior in (Behavior.DENY, Behavior.ASK, Behavior.ALLOW):
        for tool, rules in context.table(behavior).items():
            for rule in rules:
                pattern = rule.rule_content or ""
                found.append(Said(behavior.value, _RULE_WORDS[behavior], tool, pattern))
    found += [
        Said("allow", f"Edits in {each.path} pass where the mode accepts edits.")
        for each in context.working_directories.values()
    ]
    answer, text = MODE_WORDS[context.mode]
    return [*found, Said(answer, text)]


def tool_rows(definition: Json) -> list[tuple[str, Tool | None]]:
    """The agent's tools by name; None for one that is not here any more."""
    known: Mapping[str, Tool] = PROFILES.tools()
    return [(name, known.get(name)) for name in definition.get("tools", ())]


def option_rows(definition: Json) -> list[tuple[str, str]]:
    """The model's options, each in one line."""
    options = definition.get("options") or {}
    return [
        (name, value if isinstance(value, str) else codec.dumps(value))
        for name, value in options.items()
    ]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a comparison."""

    css: str
    sign: str
    spoken: str
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """One field that differs, line by line."""

    name: str
    lines: Sequence[Line]
    hidden: int


def comparison(before: AgentView, after: AgentView) -> Json:
    """Two versions beside each other, for the page."""
    found = compare(before.definition, after.definition)
    return {
        "before": before.row,
        "after": after.row,
        "parts": [_part(name, pair) for name, pair in found["fields"].items()],
        "widened": found["widened"],
        "narrowed": found["narrowed"],
    }


def _part(name: str, pair: Json) -> Part:
    lines = list(_lines(_text(pair["before"]), _text(pair["after"])))
    return Part(name, lines[:MOST_LINES], max(0, len(lines) - MOST_LINES))


def _text(value: Any) -> list[str]:
    if value is None or value in ("", [], {}):
        return []
    return value.splitlines() if isinstance(value, str) else codec.pretty(value).splitlines()


_SIGNS = {"- ": ("del", "−", "removed"), "+ ": ("add", "+", "added"), "  ": ("", "", "")}


def _lines(before: list[str], after: list[str]) -> Iterator[Line]:
    if len(before) + len(after) > 4 * MOST_LINES:
        # Comparing long texts line by line takes longer than anybody would wait.
        marked = [f"- {line}" for line in before] + [f"+ {line}" for line in after]
    else:
        marked = list(difflib.ndiff(before, after))
    for line in marked:
        if (sign := _SIGNS.get(line[:2])) is not None:
            yield Line(*sign, line[2:])


def stamp_of(run: Run) -> Json | None:
    """Agent and version that a run has recorded, where a page can show them."""
    try:
        stamp = codec.loads(run.agent)
    except DecodeError:
        return None
    fits = isinstance(stamp, dict) and isinstance(stamp.get("version"), int)
    return stamp if fits and isinstance(stamp.get("id"), str) and stamp["id"] else None


def retire_dialog(view: AgentView, reason: str, *, asked: bool) -> Json:
    """What retiring does, before it is done."""
    id_ = view.row.agent_id
    return {
        "url": reverse("agent_retire", args=[id_]),
        "cancel_url": reverse("agent", args=[id_]),
        "cancel_label": "Keep it in use",
        "title": f"Retire {id_}",
        "lead": "No new turn begins with it. Changing it later brings it back.",
        "button": f"Retire {id_}",
        "danger": True,
        "version": view.row.version,
        "leaves": [
            "new turns of its sessions: they wait until it is back",
            "its place among the agents that are offered",
        ],
        "stays_title": "Stays",
        "stays": [
            "turns that have begun: they end with their version",
            "its sessions, and every version of the definition",
        ],
        "reason": reason,
        "reason_error": SHORT_REASON if asked and not is_long_enough(reason) else "",
        "templates": REASONS,
    }
