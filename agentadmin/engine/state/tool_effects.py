"""What a change of permissions means for the next call of each tool, as far as that is certain.

A decision may hang on arguments that nobody knows yet: each tool is asked about with several calls,
and a sentence says what all of them come to, or that it depends on the call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import now
from agentadmin.engine.state.permissions import Behavior, ToolCheck, ToolFacts, decide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from agentadmin.engine.state.permissions import PermissionContext
    from agentadmin.engine.state.plan import PlanModeContext

MOST_NAMES = 24
_VERBS = {Behavior.ALLOW: "run", Behavior.DENY: "be denied", Behavior.ASK: "ask"}
_LISTING = "ls"

type Outcome = tuple[Behavior, ...]


@dataclass(frozen=True, slots=True)
class _Call:
    """One call that a tool may get: what it is taken for, and its arguments."""

    tool: ToolFacts
    input: Mapping[str, Any]
    path: str = ""


def tool_effects(
    before: PermissionContext,
    after: PermissionContext,
    plan: PlanModeContext,
    known: Iterable[ToolFacts] = (),
) -> Iterator[str]:
    """A sentence for each outcome that is new, naming the tools whose calls come to it."""
    if before == after:
        return
    tools = {tool.name: tool for tool in known}
    found: dict[tuple[Outcome, bool], list[str]] = {}
    for name in _touched(before, after) or dict.fromkeys([*_named(before), *_named(after), *tools]):
        outcome = _outcome(after, plan, name, tools.get(name))
        if outcome and outcome != _outcome(before, plan, name, tools.get(name)):
            found.setdefault((outcome, _has_pattern(after, name)), []).append(name)
    for (outcome, patterned), names in found.items():
        yield _sentence(outcome, names, patterned=patterned)


def _touched(before: PermissionContext, after: PermissionContext) -> dict[str, None]:
    """The tools whose rules differ, where nothing but rules does; empty where any may be meant.

    A rule speaks of the tool that it names and of no other, so nobody else need be asked about.
    """
    if (before.mode, before.working_directories) != (after.mode, after.working_directories):
        return {}
    touched: dict[str, None] = {}
    for behavior in _VERBS:
        old, new = before.table(behavior), after.table(behavior)
        tools = dict.fromkeys([*old, *new])
        touched |= dict.fromkeys(tool for tool in tools if old.get(tool) != new.get(tool))
    return touched


def _named(context: PermissionContext) -> Iterator[str]:
    return (tool for _, tool, _ in context.rules())


def _has_pattern(context: PermissionContext, name: str) -> bool:
    return any(tool == name and rule.rule_content for _, tool, rule in context.rules())


def _outcome(
    context: PermissionContext, plan: PlanModeContext, name: str, tool: ToolFacts | None
) -> Outcome:
    """What calls that no pattern matches come to; empty where nothing certain can be said."""
    calls = _unknown(name) if tool is None else _calls(context, tool)
    moment = now()
    found = {
        decide(
            context, plan, each.tool, each.input, moment, [each.path] if each.path else ()
        ).behavior
        for each in calls
    }
    outcome = tuple(behavior for behavior in Behavior if behavior in found)
    is_sure = len(outcome) == 1 or (tool is not None and tool.check is None)
    return outcome if is_sure else ()


def _unknown(name: str) -> Iterator[_Call]:
    """Of a tool that nobody knows here: it may read, edit, or do anything else."""
    for read_only, edits in ((False, False), (True, False), (False, True)):
        yield _Call(ToolFacts(name, read_only=read_only, file_edit=edits), {})


def _calls(context: PermissionContext, tool: ToolFacts) -> Iterator[_Call]:
    """Calls that a decision may tell apart: by command, path, or the tool's own word."""
    inputs: list[dict[str, Any]] = [{}, {"command": _LISTING}] if tool.is_command else [{}]
    paths = ["", *_inside(context, tool)] if tool.file_edit else [""]
    for input, path, check in product(inputs, paths, _checks(tool)):
        yield _Call(replace(tool, check=check), input, path)


def _inside(context: PermissionContext, tool: ToolFacts) -> Iterator[str]:
    for each in context.working_directories.values():
        yield normpath(join(tool.root, each.path, "file"))


def _checks(tool: ToolFacts) -> Iterator[ToolCheck | None]:
    yield None
    if tool.check is not None:
        for behavior in (Behavior.ALLOW, Behavior.DENY, Behavior.ASK):
            yield ToolCheck(behavior)


def _sentence(outcome: Outcome, names: list[str], *, patterned: bool) -> str:
    """The rest of a long list is counted, not named."""
    shown = [f"“{name}”" for name in names[:MOST_NAMES]]
    if more := len(names) - len(shown):
        shown.append(f"{more} more tool{'' if more == 1 else 's'}")
    when = "on its next call" if len(names) == 1 else "on their next calls"
    verbs = " or ".join(_VERBS[behavior] for behavior in outcome)
    hedge = ", as the arguments say" if len(outcome) > 1 else ""
    unless = ", unless a rule's pattern decides" if patterned else ""
    return f"{_joined(shown)} will {verbs} {when}{hedge}{unless}."


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
