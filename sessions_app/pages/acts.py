"""The acts on a state that the pages offer: their words, their fields, what they leave alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.engine.errors import NotFound
from sessions_app.forms import (
    ModeForm,
    NewRuleForm,
    NothingForm,
    OperationForm,
    RuleKeyForm,
    SummaryForm,
)

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

_TIGHTER = ("Response to an incident", "Tighten after review", "Asked by owner", "Temporary grant")


@dataclass(frozen=True, slots=True)
class ActKind:
    """One operation of `updateAgentState` as a dialog."""

    op: str
    form: type[OperationForm]
    title: str
    lead: str
    button: str
    permission: str
    icon: str = ""
    danger: bool = False
    fields: str = ""
    """The template of its fields; without one the dialog opens with its dry run."""
    keep: str = "Keep it as it is"
    leaves_title: str = "Changes"
    reasons: tuple[str, ...] = ()
    tab: str = "permissions"
    touches_messages: bool = False

    def stays(self, state: AgentState) -> list[str]:
        """What the act leaves alone, with the numbers that a person would check."""
        context = state.permission_context
        rules = sum(1 for _ in context.rules())
        if self.op == "clear_context":
            return [
                "the full history, for people",
                f"{rules} rules, mode {context.mode}, "
                f"{len(context.working_directories)} directories",
                f"tools, {len(state.tasks_context.tasks)} tasks, plan",
            ]
        if self.tab == "permissions":
            return ["messages, summary and history", "the other rules", "tools, tasks and plan"]
        return ["messages and history", f"{rules} rules and the mode", "tools, tasks and plan"]


KINDS = {
    kind.op: kind
    for kind in (
        ActKind(
            op="clear_context",
            form=NothingForm,
            title="Clear working context of {name}",
            lead="The agent starts its next turn without these messages. "
            "People can still read them.",
            button="Clear working context of {name}",
            permission="sessions:clear",
            icon="eraser",
            danger=True,
            keep="Keep context",
            leaves_title="Leaves the working context",
            reasons=(
                "Stuck in a loop",
                "Wrong task loaded",
                "Personal data in context",
                "Asked by owner",
            ),
            tab="conversation",
            touches_messages=True,
        ),
        ActKind(
            op="set_summary",
            form=SummaryForm,
            title="Change the summary of {name}",
            lead="The summary stands in every request in place of what was compacted.",
            button="Change the summary of {name}",
            permission="sessions:edit_summary",
            fields="sessions/_fields_summary.html",
            keep="Keep the summary",
            reasons=("Wrong summary", "Personal data in summary", "Asked by owner"),
            tab="state",
            touches_messages=True,
        ),
        ActKind(
            op="set_permission_mode",
            form=ModeForm,
            title="Set mode {mode} of {name}",
            lead="The mode decides about calls that no rule speaks about. It counts from the very "
            "next call, also of a run that is going on.",
            button="Set mode {mode}",
            permission="permissions:edit",
            keep="Keep the mode",
            reasons=_TIGHTER,
        ),
        ActKind(
            op="add_rule",
            form=NewRuleForm,
            title="Add a rule to {name}",
            lead="A rule counts from the very next call, also of a run that is going on.",
            button="Add the rule",
            permission="permissions:edit",
            fields="sessions/_fields_rule.html",
            keep="Add nothing",
            reasons=_TIGHTER,
        ),
        ActKind(
            op="remove_rule",
            form=RuleKeyForm,
            title="Remove a rule from {name}",
            lead="The rule stops counting from the very next call.",
            button="Remove the rule",
            permission="permissions:edit",
            keep="Keep the rule",
            reasons=_TIGHTER,
        ),
    )
}


def act_kind(op: str) -> ActKind:
    """The act of this name. Raises NotFound for any other."""
    if op not in KINDS:
        raise NotFound("There is no such act.")
    return KINDS[op]
