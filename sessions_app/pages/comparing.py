"""A comparison as its page shows it: the summary in words, then one section for each part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.message_diff import MessageFate
from sessions_app.pages.diff_lines import (
    Line,
    added,
    message_text,
    moved,
    removed,
    replaced,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentadmin.engine.state.message_diff import MessageChange
    from sessions_app.selectors.comparison import Comparison

MOST_MESSAGES = 40
"""Messages that are shown before somebody asks for all."""
ALL_MESSAGES = 2_000
MOST_NAMES = 3
_PARTS = {
    "messages": "messages",
    "summary": "summary",
    "permission": "permissions",
    "tasks": "tasks",
    "plan": "plan",
    "tools": "tools",
}
_FIELDS = ("reply_id", "cur_iter", "shutdown_interrupted")


@dataclass(frozen=True, slots=True)
class Said:
    """One line of the summary: how much it matters, what it is, and what happened."""

    level: str
    icon: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """One part that differs, as lines."""

    anchor: str
    path: str
    note: str
    lines: Sequence[Line]
    level: str = ""
    word: str = ""
    is_prose: bool = False
    hidden: int = 0
    """Messages that are left out until somebody asks for all."""


def said(found: Comparison) -> list[Said]:
    """What a person should know first, the dangerous before the rest."""
    permission = found.diff.get("permission", {})
    lines = [
        Said("bad", "g-stalled", "Permissions widened:", text)
        for text in permission.get("widened", ())
    ]
    lines += [
        Said("good", "g-done", "Permissions narrowed:", text)
        for text in permission.get("narrowed", ())
    ]
    lines += [Said("", "arrow", "", text) for text in found.effects if not _is_rule(text)]
    lines += _counted(found)
    same = [label for part, label in _PARTS.items() if part not in found.diff]
    if found.diff and same:
        lines.append(Said("good", "g-done", "", f"Unchanged: {', '.join(same)}"))
    return lines


def _is_rule(effect: str) -> bool:
    """Rules are told by what they widen or narrow."""
    return effect.startswith(("Adds the rule", "Removes the rule"))


def _counted(found: Comparison) -> Iterator[Said]:
    """Messages and tasks that were changed or moved: no effect speaks of them."""
    for part, noun in (("messages", "message"), ("tasks", "task")):
        told = found.diff.get(part, {})
        counts = [(len(told.get(key, ())), key) for key in ("changed", "moved")]
        text = ", ".join(
            f"{number} {_noun(number, noun)} {key}" for number, key in counts if number
        )
        if text:
            yield Said("", "arrow", "", f"{text}.")


def _noun(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def sections(found: Comparison, *, most: int = MOST_MESSAGES) -> list[Section]:
    """Every part that differs, in the order in which a person asks about them."""
    return [
        *_permission(found.diff.get("permission", {})),
        *_summary(found.diff.get("summary")),
        *_messages(found, most),
        *_tasks(found.diff.get("tasks", {})),
        *_keys("plan", "/plan_mode_context", found.diff.get("plan", {})),
        *_keys("tools", "/tool_context", found.diff.get("tools", {})),
        *_keys("call", "", {name: found.diff[name] for name in _FIELDS if name in found.diff}),
        *_keys("extra", "", found.diff.get("extra", {})),
    ]


def _permission(told: Mapping[str, Any]) -> Iterator[Section]:
    if not told:
        return
    wider, narrower = told.get("widened"), told.get("narrowed")
    level, word = ("bad", "widened") if wider else ("good", "narrowed") if narrower else ("", "")
    lines: list[Line] = []
    if "mode" in told:
        lines += replaced(f"mode: {told['mode']['before']}", f"mode: {told['mode']['after']}")
    lines += [removed(_rule(rule)) for rule in told.get("rules_removed", ())]
    lines += [added(_rule(rule)) for rule in told.get("rules_added", ())]
    for key, sides in told.get("working_directories", {}).items():
        lines += _sides(f"working directory {key}", sides)
    note = f"{len(lines)} {_noun(len(lines), 'line')}"
    yield Section("d-permission", "/permission_context", note, lines, level, word)


def _rule(rule: Mapping[str, Any]) -> str:
    """`allow execute: pytest * · source session`"""
    content = f": {rule['rule_content']}" if rule.get("rule_content") else ""
    source = f" · source {rule['source']}" if rule.get("source") else ""
    until = f" · until {rule['expires_at']}" if rule.get("expires_at") else ""
    return f"{rule.get('effect')} {rule.get('tool')}{content}{source}{until}"


def _summary(sides: Mapping[str, Any] | None) -> Iterator[Section]:
    if sides is None:
        return
    before, after = value_text(sides["before"]), value_text(sides["after"])
    delta = len(sides["after"] or "") - len(sides["before"] or "")
    note = f"{delta:+,} characters".replace("-", "\N{MINUS SIGN}")
    lines = list(replaced(before, after))
    yield Section("d-summary", "/summary", note, lines, is_prose=True)


def _messages(found: Comparison, most: int) -> Iterator[Section]:
    told = found.diff.get("messages")
    if told is None:
        return
    shown = found.messages[:most]
    lines = [line for change in shown for line in _message(change)]
    parts = (f"{len(told[key])} {key}" for key in ("added", "removed", "changed", "moved"))
    counts = ", ".join(part for part in parts if not part.startswith("0 "))
    note = f"{told['before']} → {told['after']} messages; {counts}"
    yield Section("d-context", "/context", note, lines, hidden=len(found.messages) - len(shown))


def _message(change: MessageChange) -> Iterator[Line]:
    old, new = change.before, change.after
    before, after = change.before_index or 0, change.after_index or 0
    if new is None:
        yield removed(message_text(old) if old else "", before + 1)
    elif old is None:
        yield added(message_text(new), after + 1)
    elif change.fate is MessageFate.MOVED:
        yield moved(message_text(new), before, after)
    else:
        number = f"{before + 1}→{after + 1}" if change.moved else after + 1
        texts = message_text(old), message_text(new)
        if texts[0] == texts[1]:
            # What differs is nothing that is said: a state, a name, a number.
            texts = value_text(old.to_dict()), value_text(new.to_dict())
        yield from replaced(*texts, number)


def _tasks(told: Mapping[str, Any]) -> Iterator[Section]:
    if not told:
        return
    lines = [removed(_task(task)) for task in told["removed"]]
    lines += [added(_task(task)) for task in told["added"]]
    for sides in told["changed"]:
        lines += _fields(sides["before"], sides["after"])
    if told["moved"]:
        lines.append(Line("mov", added(f"moved: {', '.join(told['moved'])}").parts))
    rest = {k: v for k, v in told.items() if k not in {"added", "removed", "changed", "moved"}}
    for key, sides in rest.items():
        lines += _sides(key, sides)
    counts = (f"{len(told[key])} {key}" for key in ("added", "removed", "changed", "moved"))
    note = ", ".join(part for part in counts if not part.startswith("0 "))
    yield Section("d-tasks", "/tasks_context", note, lines)


def _task(task: Mapping[str, Any]) -> str:
    return f'"{task.get("subject")}" {task.get("state")}'


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Line]:
    """The fields of one task that differ."""
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            sides = {"before": before.get(key), "after": after.get(key)}
            yield from _sides(f'"{after.get("subject")}" {key}', sides)


def _keys(anchor: str, path: str, told: Mapping[str, Any]) -> Iterator[Section]:
    if not told:
        return
    lines = [line for key, sides in told.items() for line in _sides(f"{path}/{key}", sides)]
    note = f"{len(told)} {_noun(len(told), 'field')}"
    names = path or ", ".join(f"/{key}" for key in list(told)[:MOST_NAMES])
    yield Section(f"d-{anchor}", names, note, lines)


def _sides(name: str, sides: Mapping[str, Any]) -> Iterator[Line]:
    """A value before and after, each with its name; what was not there has no line."""
    texts = [
        f"{name}: {value_text(sides[side])}" if sides[side] is not None else ""
        for side in ("before", "after")
    ]
    return replaced(texts[0], texts[1])
