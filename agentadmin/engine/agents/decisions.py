"""The permission gate of one step: every call is judged before any runs (spec §5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import confirmed
from agentadmin.engine.clock import now
from agentadmin.engine.state.permissions import Behavior, PermissionRule
from agentadmin.engine.state.permissions.decision import Decision, decide
from agentadmin.engine.tools.executor import ToolOutcome, refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agentadmin.engine.messages import ToolUseBlock
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.tools.toolkit import ActiveTools, Tool, Toolkit


@dataclass(frozen=True, slots=True)
class Judged:
    """A call with what is to become of it: a refusal needs no decision."""

    call: ToolUseBlock
    tool: Tool | None
    refused: ToolOutcome | None
    decision: Decision | None

    @property
    def behavior(self) -> Behavior | None:
        return self.decision.behavior if self.decision else None


def to_fact(call: ToolUseBlock, decision: Decision, by: dict[str, Any] | None) -> dict[str, Any]:
    """The payload of `tool/decision`; `by` is who confirmed the call, where somebody did."""
    return {
        "call_id": call.id,
        "tool": call.name,
        "behavior": decision.behavior.value,
        "because": decision.because,
        "message": decision.message,
        "rule": decision.rule.to_dict() if decision.rule else None,
        "by": by,
    }


def judge(
    calls: Sequence[ToolUseBlock],
    state: AgentState,
    toolkit: Toolkit,
    active: ActiveTools,
    workspace: Path | None,
) -> list[Judged]:
    """Judge all calls against the state as it is now."""
    return [_judge(call, state, toolkit, active, workspace) for call in calls]


def _judge(
    call: ToolUseBlock,
    state: AgentState,
    toolkit: Toolkit,
    active: ActiveTools,
    workspace: Path | None,
) -> Judged:
    tool = active.get(call.name)
    refused = refusal(
        tool, call.name, call.input, known=call.name in toolkit, truncated=call.truncated
    )
    if tool is None or refused is not None:
        return Judged(call, tool, refused, None)
    decision = decide(
        state.permission_context,
        state.plan_mode_context,
        tool.facts(call.input, workspace),
        call.input,
        now(),
        tool.paths(call.input, workspace),
    )
    if decision.behavior is Behavior.ASK and confirmed(call):
        # A person said yes to exactly this; only a denial may still overrule it.
        decision = Decision(Behavior.ALLOW, "confirmed", "Confirmed by the user", decision.rule)
    return Judged(call, tool, None, decision)


def denial_text(decision: Decision) -> str:
    """What the model reads: which rule, so that a developer can find and change it."""
    if decision.rule is not None:
        return f"Permission denied by rule {_named(decision.rule, decision.behavior)}"
    return f"Permission denied by {decision.because}: {decision.message}"


def _named(rule: PermissionRule, behavior: Behavior) -> str:
    content = f" {rule.rule_content}" if rule.rule_content else ""
    return f"{rule.tool_name}{content} ({behavior}, source {rule.source})"
