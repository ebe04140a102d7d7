"""Operations on to-dos, the task, its requirements and the checked subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import iso
from agentadmin.engine.errors import InvalidOperation, StaleTasks
from agentadmin.engine.state import codec, task_contract
from agentadmin.engine.state.operations import OperationSpec
from agentadmin.engine.state.task_contract import RequirementStatus, with_contract
from agentadmin.engine.state.todos import with_todos

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Raw, Reader

_PERMISSION = "sessions:edit"
_SUBSTATES = frozenset({"tasks_context"})
DEFAULT_SOURCE = "operator"
MAX_TEXT = 20_000
MAX_REQUIREMENTS = 200
_DECISIONS = {"confirm": RequirementStatus.CONFIRMED, "reject": RequirementStatus.REJECTED}


def _set_todos(state: AgentState, operation: Reader, now: datetime) -> None:
    _check_revision(state, operation)
    place = f"{state.session_id}\0{state.thread_id}"
    state.tasks_context = with_todos(state.tasks_context, operation, now, place)


def _begin_task(state: AgentState, operation: Reader, _now: datetime) -> None:
    """Another task drops the requirements and checks of the one before; history keeps them."""
    _check_revision(state, operation)
    before = state.tasks_context
    scope = {
        "task_id": _text(operation, "task_id", required=False) or _task_id(state),
        "objective": _text(operation, "objective"),
        "source": _text(operation, "source", required=False) or DEFAULT_SOURCE,
    }
    goes_on = task_contract.scope_of(before).get("task_id") == scope["task_id"]
    kept = task_contract.requirements_of(before) if goes_on else []
    requirements = [*kept, *_proposed(state, operation, kept)]
    checks = task_contract.verifications_of(before) if goes_on else []
    state.tasks_context = with_contract(
        before, scope=scope, requirements=requirements or None, verifications=checks or None
    )


def _task_id(state: AgentState) -> str:
    """Follows from where it begins, so that applying an operation twice says the same."""
    revision = state.tasks_context.revision
    return codec.sha256(codec.dumps([state.session_id, state.thread_id, revision, "task"]))[:32]


def _proposed(state: AgentState, operation: Reader, kept: list[Raw]) -> list[Raw]:
    """Candidates: beginning a task confirms nothing."""
    given = operation.children("requirements")
    if len(kept) + len(given) > MAX_REQUIREMENTS:
        raise operation.refuse("requirements", f"must hold at most {MAX_REQUIREMENTS}")
    known = {each.get("id") for each in kept}
    found: list[Raw] = []
    for number, each in enumerate(given):
        for name in each.raw:
            if name not in {"id", "text"}:
                raise each.refuse(name, "is no field of a requirement")
        id_ = _text(each, "id", required=False) or f"{_task_id(state)[:8]}-{number + 1}"
        if id_ in known:
            raise each.refuse("id", f"{id_} is taken")
        known.add(id_)
        status = RequirementStatus.CANDIDATE.value
        found.append({"id": id_, "text": _text(each, "text"), "status": status})
    return found


def _decide_requirement(state: AgentState, operation: Reader, now: datetime) -> None:
    _check_revision(state, operation)
    id_, decision = operation.required_text("id"), operation.required_text("decision").lower()
    if decision not in _DECISIONS:
        raise operation.refuse("decision", "must be confirm or reject")
    requirements = task_contract.requirements_of(state.tasks_context)
    if all(each.get("id") != id_ for each in requirements):
        known = ", ".join(str(each.get("id")) for each in requirements[:20]) or "there is none"
        raise InvalidOperation(f"there is no requirement {id_:.60}; known: {known}", path="id")
    decided: dict[str, Any] = {
        "status": _DECISIONS[decision].value,
        "decided_by": operation.text("decided_by"),
        "decided_at": iso(now),
    }
    changed = [{**each, **decided} if each.get("id") == id_ else each for each in requirements]
    state.tasks_context = with_contract(state.tasks_context, requirements=changed)


def _set_subject_version(state: AgentState, operation: Reader, _now: datetime) -> None:
    """Null says that nothing valid is known of the subject: checks of it are stale."""
    _check_revision(state, operation)
    if "subject_version" not in operation.raw:
        raise operation.refuse("subject_version", "is missing")
    version = _text(operation, "subject_version", required=False)
    if version != state.tasks_context.extra.get(task_contract.SUBJECT_VERSION):
        state.tasks_context = with_contract(state.tasks_context, subject_version=version)


def _text(operation: Reader, field: str, *, required: bool = True) -> str | None:
    text = operation.required_text(field) if required else operation.text(field)
    if text is not None and not text.strip():
        raise operation.refuse(field, "must not be blank")
    if text is not None and len(text) > MAX_TEXT:
        raise operation.refuse(field, f"must have at most {MAX_TEXT} characters")
    return text


def _check_revision(state: AgentState, operation: Reader) -> None:
    """Whoever names the revision that was read is told when it is no longer the newest."""
    current = state.tasks_context.revision
    if operation.raw.get("revision") is None:
        return
    wanted = operation.raw["revision"]
    if type(wanted) is not int:
        raise operation.refuse("revision", "must be a whole number")
    if wanted != current:
        raise StaleTasks(current)


def _spec(
    name: str, change: Any, *fields: str, given: frozenset[str] = frozenset()
) -> OperationSpec:
    return OperationSpec(
        name=name,
        permission=_PERMISSION,
        substates=_SUBSTATES,
        change=change,
        fields=frozenset({*fields, "revision"}),
        given=given,
    )


SET_TODOS = _spec("set_todos", _set_todos, "todos")
BEGIN_TASK = _spec("begin_task", _begin_task, "task_id", "objective", "source", "requirements")
DECIDE_REQUIREMENT = _spec(
    "decide_requirement",
    _decide_requirement,
    "id",
    "decision",
    given=frozenset({"decided_by"}),
)
SET_SUBJECT_VERSION = _spec("set_subject_version", _set_subject_version, "subject_version")
