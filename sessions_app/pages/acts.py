"""The acts on a state that the pages offer, each one operation of `updateAgentState`."""

from __future__ import annotations

from agentadmin.engine.errors import NotFound
from sessions_app.forms import (
    ModeForm,
    NewRuleForm,
    NothingForm,
    RuleKeyForm,
    SummaryForm,
)
from sessions_app.pages.act_kind import PERMISSION_REASONS, ActKind
from sessions_app.pages.message_acts import MESSAGE_KINDS
from sessions_app.pages.plan_acts import PLAN_KINDS
from sessions_app.pages.version_acts import VERSION_KINDS

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
            initial=lambda state: {"summary": state.summary},
            keep="Keep the summary",
            reasons=("Wrong summary", "Personal data in summary", "Asked by owner"),
            tab="state",
            touches_messages=True,
        ),
        ActKind(
            op="set_permission_mode",
            form=ModeForm,
            title="Set mode {mode} of {name}",
            lead="Deny rules stand before every mode; explore stands before ask and allow rules, "
            "the other modes behind them. It counts from the very next call, also of a run that "
            "is going on.",
            button="Set mode {mode}",
            permission="permissions:edit",
            keep="Keep the mode",
            reasons=PERMISSION_REASONS,
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
            reasons=PERMISSION_REASONS,
        ),
        ActKind(
            op="remove_rule",
            form=RuleKeyForm,
            title="Remove a rule from {name}",
            lead="The rule stops counting from the very next call.",
            button="Remove the rule",
            permission="permissions:edit",
            keep="Keep the rule",
            reasons=PERMISSION_REASONS,
        ),
        *PLAN_KINDS,
        *MESSAGE_KINDS,
        *VERSION_KINDS,
    )
}


def act_kind(op: str) -> ActKind:
    """The act of this name. Raises NotFound for any other."""
    if op not in KINDS:
        raise NotFound("There is no such act.")
    return KINDS[op]
