"""What the Plan & tasks tab shows: plan mode, to-dos, the task with its requirements, groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from agentadmin.engine.state import task_contract
from agentadmin.engine.state.tasks import TaskState
from sessions_app.journal.configured import agent_spec
from sessions_app.selectors.plan_file import plan_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.plan import PlanModeContext
    from agentadmin.engine.state.tasks import Task, TasksContext
    from agentadmin.engine.tools.toolkit import Toolkit
    from sessions_app.models import AgentThread

_WORDS = {TaskState.PENDING: "open"}
"""A to-do that nobody has begun waits for nobody."""


@dataclass(frozen=True, slots=True)
class TodoRow:
    """One to-do: its state in the words of the state table, and how urgent it is."""

    task: Task
    state: str
    priority: str


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """One requirement, who decided it, and what a decision's dialog is asked with."""

    id: str
    text: str
    status: str
    by: str
    at: str
    confirm: str
    reject: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One verification; a stale one supports nothing."""

    id: str
    status: str
    is_stale: bool


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One tool group with its tools, and the query that turns it on or off."""

    name: str
    tools: str
    is_active: bool
    toggle: str


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The whole tab."""

    plan: PlanModeContext
    text: str | None
    todos: Sequence[TodoRow]
    left: int
    revision: int
    scope: dict[str, Any]
    requirements: Sequence[RequirementRow]
    checks: Sequence[CheckRow]
    contract_version: int
    subject_version: Any
    groups: Sequence[GroupRow]


def plan_page(thread: AgentThread, state: AgentState) -> PlanPage:
    """The tab of a thread. Raises DecodeError where an imported task cannot be read."""
    tasks = state.tasks_context
    spec = agent_spec(thread.agent_id)
    return PlanPage(
        plan=state.plan_mode_context,
        text=plan_text(thread, state.plan_mode_context),
        todos=[_todo(task) for task in tasks.tasks],
        left=sum(1 for task in tasks.tasks if task.state is not TaskState.COMPLETED),
        revision=tasks.revision,
        scope=task_contract.scope_of(tasks),
        requirements=[_requirement(raw) for raw in task_contract.requirements_of(tasks)],
        checks=_checks(tasks),
        contract_version=task_contract.contract_version(tasks),
        subject_version=tasks.extra.get(task_contract.SUBJECT_VERSION),
        groups=_groups(spec.toolkit if spec else None, state.tool_context.activated_groups),
    )


def _todo(task: Task) -> TodoRow:
    priority = task.metadata.get("priority")
    word = _WORDS.get(task.state, task.state.value)
    return TodoRow(task, word, priority if isinstance(priority, str) else "")


def _requirement(raw: dict[str, Any]) -> RequirementRow:
    id_ = _text(raw.get("id"))
    status = _text(raw.get("status")).lower() or task_contract.RequirementStatus.CANDIDATE.value
    confirm, reject = (
        urlencode({"id": id_, "decision": word}, errors="replace") for word in ("confirm", "reject")
    )
    by, at = _text(raw.get("decided_by")), _text(raw.get("decided_at"))
    return RequirementRow(id_, _text(raw.get("text")), status, by, at, confirm, reject)


def _checks(tasks: TasksContext) -> list[CheckRow]:
    return [
        CheckRow(
            _text(raw.get("id")),
            _text(raw.get("status")).lower(),
            task_contract.is_stale(tasks, raw),
        )
        for raw in task_contract.verifications_of(tasks)
    ]


def _groups(toolkit: Toolkit | None, active: Sequence[str]) -> list[GroupRow]:
    """Those that the agent has, and active ones that it does not have any more."""
    tools: dict[str, list[str]] = {}
    for tool in toolkit or ():
        if tool.group is not None:
            tools.setdefault(tool.group, []).append(tool.name)
    names = dict.fromkeys((*tools, *active))
    return [
        GroupRow(
            name, ", ".join(tools.get(name, ())), name in active, _toggled(name, active, tools)
        )
        for name in names
    ]


def _toggled(name: str, active: Sequence[str], tools: dict[str, list[str]]) -> str:
    """Groups that the agent no longer has leave with the next change."""
    kept = [each for each in active if each != name and each in tools]
    wanted = kept if name in active else [*kept, name]
    pairs = [("set", "1"), *(("groups", group) for group in wanted)]
    return urlencode(pairs, errors="replace")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
