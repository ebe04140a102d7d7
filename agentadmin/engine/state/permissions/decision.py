"""The one decision about a call, shared by the loop, the API and the simulator.

It is pure and total: the same question gives the same answer, and every question gets one. The
steps stand in `STEPS` in their order; the first that has a verdict decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.permissions.globs import is_inside
from agentadmin.engine.state.permissions.matching import allowing_rule, touching_rule
from agentadmin.engine.state.permissions.question import Question
from agentadmin.engine.state.permissions.read_only_commands import is_read_only
from agentadmin.engine.state.permissions.safety import dangerous_command, dangerous_path
from agentadmin.engine.state.permissions.suggestions import suggested_rules
from agentadmin.engine.state.permissions.vocabulary import Behavior, PermissionMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from agentadmin.engine.state.permissions.context import PermissionContext, PermissionRule
    from agentadmin.engine.state.permissions.facts import ToolFacts
    from agentadmin.engine.state.plan import PlanModeContext

NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one step says when it decides."""

    behavior: Behavior
    message: str
    rule: PermissionRule | None = None
    because: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """Allow, deny or ask, with the step that said so and what every step found."""

    behavior: Behavior
    because: str
    message: str
    rule: PermissionRule | None = None
    suggested_rules: tuple[PermissionRule, ...] = ()
    trace: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, Any]:
        return {
            "behavior": self.behavior.value,
            "because": self.because,
            "message": self.message,
            "rule": None if self.rule is None else self.rule.to_dict(),
            "suggested_rules": [rule.to_dict() for rule in self.suggested_rules],
            "trace": [{"step": step, "outcome": outcome} for step, outcome in self.trace],
        }


def decide(
    context: PermissionContext,
    plan: PlanModeContext,
    tool: ToolFacts,
    input: Mapping[str, Any],
    now: datetime,
    resolved_paths: Sequence[str] = (),
) -> Decision:
    """Judges one call.

    `resolved_paths` are the paths that the call touches, absolute and normalised, each as named
    and with its symlinks resolved: what forbids looks at any of them, what allows at all.
    """
    question = Question(context, plan, tool, input, now, tuple(resolved_paths))
    trace: list[tuple[str, str]] = []
    for name, step in STEPS[:-1]:
        found = step(question)
        if isinstance(found, Verdict):
            break
        trace.append((name, found))
    else:
        name, found = "mode", _mode(question)
    because = found.because or name
    trace.append((because, found.behavior.value))
    trace += [(later, NOT_REACHED) for later, _ in STEPS[len(trace) :]]
    rules = suggested_rules(question) if found.behavior is Behavior.ASK else ()
    return Decision(found.behavior, because, found.message, found.rule, rules, tuple(trace))


def _plan_mode(question: Question) -> Verdict | str:
    if not question.plan.plan_active:
        return "plan mode is not active"
    tool = question.tool
    if tool.read_only or tool.plan_mode_allowed:
        return "plan mode allows this tool"
    return Verdict(Behavior.DENY, f"Permission denied for {tool.name} (plan mode is active)")


def _deny_rule(question: Question) -> Verdict | str:
    rule = touching_rule(question, Behavior.DENY)
    if rule is None:
        return "no deny rule matches"
    message = f"Permission to use {question.tool.name} has been denied"
    return Verdict(Behavior.DENY, message, rule)


def _check_denies(question: Question) -> Verdict | str:
    if not question.check(Behavior.DENY):
        return "the tool does not refuse"
    return Verdict(Behavior.DENY, _check_message(question) or _denied(question, "by the tool"))


def _safety(question: Question) -> Verdict | str:
    danger = _danger(question)
    if danger is None:
        return "nothing dangerous found"
    if question.mode is PermissionMode.EXPLORE and not question.tool.read_only:
        return Verdict(Behavior.DENY, f"{danger} (explore mode is read-only)")
    return _ask(question, danger)


def _danger(question: Question) -> str | None:
    check = question.tool.check
    if check is not None and check.behavior is Behavior.ASK and check.safety:
        return check.message or "the tool asks for safety's sake"
    path = dangerous_path(question.paths)
    if path is not None:
        return f"{path} is a dangerous path"
    if question.command_text is None:
        return None
    return dangerous_command(question.command, question.command_text)


def _explore(question: Question) -> Verdict | str:
    if question.mode is not PermissionMode.EXPLORE:
        return "explore mode is off"
    if question.tool.read_only:
        return Verdict(Behavior.ALLOW, _granted(question, "explore mode - read-only tool"))
    return Verdict(Behavior.DENY, _denied(question, "explore mode is read-only"))


def _ask_rule(question: Question) -> Verdict | str:
    rule = touching_rule(question, Behavior.ASK)
    if rule is None:
        return "no ask rule matches"
    return _ask(question, "", rule)


def _check_allows(question: Question) -> Verdict | str:
    if not question.check(Behavior.ALLOW):
        return "the tool does not allow it by itself"
    return Verdict(Behavior.ALLOW, _check_message(question) or _granted(question))


def _allow_rule(question: Question) -> Verdict | str:
    rule = allowing_rule(question)
    if rule is None:
        return "no allow rule covers the call"
    if question.must_ask:
        return "an allow rule may not answer for the user"
    return Verdict(Behavior.ALLOW, _granted(question), rule)


def _accept_edits(question: Question) -> Verdict | str:
    if question.mode is not PermissionMode.ACCEPT_EDITS:
        return "accept_edits mode is off"
    if question.must_ask:
        return "a mode may not answer for the user"
    if question.tool.read_only:
        return Verdict(Behavior.ALLOW, _granted(question, "accept edits mode - read-only tool"))
    if question.tool.file_edit and _all_in_working_directories(question):
        return Verdict(Behavior.ALLOW, _granted(question, "accept edits mode - working directory"))
    return "neither read-only nor an edit in a working directory"


def _all_in_working_directories(question: Question) -> bool:
    # A relative directory counts from the workspace, as the paths of calls do.
    directories = question.context.working_directories.values()
    roots = [normpath(join(question.tool.root, each.path)) for each in directories]
    return bool(question.paths) and all(
        any(is_inside(path, root) for root in roots) for path in question.paths
    )


def _read_only_command(question: Question) -> Verdict | str:
    if not question.tool.is_command or question.command_text is None:
        return "not a shell command"
    if question.must_ask:
        return "the tool must ask the user"
    if not is_read_only(question.command):
        return "not every part of the command is read-only"
    return Verdict(Behavior.ALLOW, _granted(question, "read-only command"))


def _tool_ask(question: Question) -> Verdict | str:
    if not question.check(Behavior.ASK):
        return "the tool does not ask"
    if question.mode is PermissionMode.BYPASS and not question.must_ask:
        return "bypass mode answers for the user"
    return _ask(question, _check_message(question))


def _bypass(question: Question) -> Verdict | str:
    if question.mode is not PermissionMode.BYPASS:
        return "bypass mode is off"
    return Verdict(Behavior.ALLOW, _granted(question, "bypass mode"))


def _mode(question: Question) -> Verdict:
    """The last step always decides."""
    if question.mode is PermissionMode.DONT_ASK:
        message = _denied(question, "dont_ask mode - user not available")
        return Verdict(Behavior.DENY, message, because="dont_ask")
    return _ask(question, "")


def _ask(question: Question, message: str, rule: PermissionRule | None = None) -> Verdict:
    """Asks, unless nobody is there to answer."""
    if question.mode is PermissionMode.DONT_ASK:
        return Verdict(Behavior.DENY, _denied(question, "dont_ask mode - user not available"), rule)
    return Verdict(Behavior.ASK, message or f"Permission required for {question.tool.name}", rule)


def _check_message(question: Question) -> str:
    return question.tool.check.message if question.tool.check else ""


def _granted(question: Question, why: str = "") -> str:
    return f"Permission granted for {question.tool.name}" + (f" ({why})" if why else "")


def _denied(question: Question, why: str) -> str:
    return f"Permission denied for {question.tool.name} ({why})"


STEPS: tuple[tuple[str, Callable[[Question], Verdict | str]], ...] = (
    ("plan_mode", _plan_mode),
    ("deny_rule", _deny_rule),
    ("tool_check", _check_denies),
    ("safety_check", _safety),
    ("explore", _explore),
    ("ask_rule", _ask_rule),
    ("tool_check", _check_allows),
    ("allow_rule", _allow_rule),
    ("accept_edits", _accept_edits),
    ("read_only_command", _read_only_command),
    ("tool_ask", _tool_ask),
    ("bypass", _bypass),
    ("mode", _mode),
)
