"""The acts of the Plan & tasks tab and on working directories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions_app.forms import NothingForm
from sessions_app.operation_forms import (
    DecisionForm,
    DirectoryForm,
    GroupsForm,
    NewDirectoryForm,
    SubjectForm,
    TaskForm,
    TodosForm,
    todo_lines,
)
from sessions_app.pages.act_kind import PERMISSION_REASONS, ActKind

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

_EDIT = "sessions:edit"
_KEPT = ("messages, summary and history", "rules, mode and directories")
_REASONS = ("Asked by the owner", "The plan has changed", "Response to an incident")


def _todos(state: AgentState) -> dict[str, Any]:
    return {"todos": todo_lines(state.tasks_context)}


def _subject(state: AgentState) -> dict[str, Any]:
    return {"subject_version": state.tasks_context.extra.get("subject_version")}


PLAN_KINDS = (
    ActKind(
        op="add_working_directory",
        form=NewDirectoryForm,
        title="Add a working directory to {name}",
        lead="In the mode accept_edits the agent edits files in it without asking.",
        button="Add the directory",
        permission="permissions:edit",
        fields="sessions/_fields_directory.html",
        keep="Add nothing",
        reasons=PERMISSION_REASONS,
        kept=("messages, summary and history", "rules and mode", "tools, tasks and plan"),
    ),
    ActKind(
        op="remove_working_directory",
        form=DirectoryForm,
        title="Remove a working directory from {name}",
        lead="Edits of files in it ask again, from the very next call on.",
        button="Remove the directory",
        permission="permissions:edit",
        keep="Keep the directory",
        reasons=PERMISSION_REASONS,
        kept=("messages, summary and history", "rules and mode", "tools, tasks and plan"),
    ),
    ActKind(
        op="enter_plan_mode",
        form=NothingForm,
        title="Enter plan mode in {name}",
        lead="The agent may only read and plan, from the very next call on.",
        button="Enter plan mode",
        permission=_EDIT,
        keep="Stay as it is",
        reasons=_REASONS,
        tab="plan",
        kept=(*_KEPT, "tools, to-dos and task"),
    ),
    ActKind(
        op="exit_plan_mode",
        form=NothingForm,
        title="Leave plan mode in {name}",
        lead="The agent may act again, as its rules and its mode say.",
        button="Leave plan mode",
        permission=_EDIT,
        keep="Stay in plan mode",
        reasons=_REASONS,
        tab="plan",
        kept=(*_KEPT, "the plan's file, tools, to-dos and task"),
    ),
    ActKind(
        op="set_todos",
        form=TodosForm,
        title="Change the to-dos of {name}",
        lead="The list replaces the whole one; the agent reads it with its next request.",
        button="Change the to-dos",
        permission=_EDIT,
        fields="sessions/_fields_todos.html",
        keep="Keep the list",
        reasons=_REASONS,
        tab="plan",
        kept=(*_KEPT, "tools, task and plan"),
        initial=_todos,
    ),
    ActKind(
        op="begin_task",
        form=TaskForm,
        title="Begin a task in {name}",
        lead="Requirements begin as candidates: only people confirm them.",
        button="Begin the task",
        permission=_EDIT,
        fields="sessions/_fields_task.html",
        keep="Begin nothing",
        reasons=_REASONS,
        tab="plan",
        kept=(*_KEPT, "tools, to-dos and plan"),
    ),
    ActKind(
        op="decide_requirement",
        form=DecisionForm,
        title="{decision} a requirement of {name}",
        lead="The decision stands with your name. Checks of the requirements before count no more.",
        button="{decision} the requirement",
        permission=_EDIT,
        keep="Decide nothing",
        reasons=_REASONS,
        tab="plan",
        kept=(*_KEPT, "tools, to-dos and plan"),
    ),
    ActKind(
        op="set_subject_version",
        form=SubjectForm,
        title="Set the subject's version in {name}",
        lead="Checks count only for the version of the subject that they were made of.",
        button="Set the version",
        permission=_EDIT,
        fields="sessions/_fields_subject.html",
        keep="Keep the version",
        reasons=_REASONS,
        tab="plan",
        kept=(*_KEPT, "tools, to-dos and plan"),
        initial=_subject,
    ),
    ActKind(
        op="activate_tool_groups",
        form=GroupsForm,
        title="Change the tool groups of {name}",
        lead="Tools of other groups are not offered and cannot be called.",
        button="Change the groups",
        permission=_EDIT,
        keep="Keep the groups",
        reasons=_REASONS,
        tab="plan",
        kept=(*_KEPT, "to-dos, task and plan"),
    ),
)
