"""Replacing the whole to-do list: the one rule for the tool `todo_write` and `set_todos`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import iso
from agentadmin.engine.state import codec
from agentadmin.engine.state.tasks import Task, TasksContext, TaskState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from agentadmin.engine.state.reading import Reader

PRIORITIES = ("high", "medium", "low")
MAX_TODOS = 1000
MAX_CONTENT = 10_000
_FIELDS = frozenset({"content", "status", "priority"})
MARKS = {TaskState.COMPLETED: "x", TaskState.IN_PROGRESS: "~", TaskState.PENDING: " "}


def with_todos(context: TasksContext, given: Reader, now: datetime, place: str) -> TasksContext:
    """The list that `given.todos` describes; raises DecodeError with the path of what is wrong.

    A to-do whose content equals an earlier subject keeps that one's id, time and metadata. `place`
    tells threads apart: new ids follow from it, so that the same change is the same everywhere.
    """
    if "todos" not in given.raw:
        raise given.refuse("todos", "is missing")
    todos = given.children("todos")
    if len(todos) > MAX_TODOS:
        raise given.refuse("todos", f"must hold at most {MAX_TODOS}")
    known: dict[str, Task] = {}
    for task in context.tasks:
        known.setdefault(task.subject, task)
    seed = f"{place}\0{context.revision}"
    tasks = [_task(todo, known, now, f"{seed}\0{n}") for n, todo in enumerate(todos)]
    active = [n for n, task in enumerate(tasks) if task.state is TaskState.IN_PROGRESS]
    if len(active) > 1:
        raise given.refuse(f"todos[{active[1]}].status", "at most one task may be in_progress")
    return context.with_tasks(tasks)


def _task(todo: Reader, known: dict[str, Task], now: datetime, seed: str) -> Task:
    for name in todo.raw:
        if name not in _FIELDS:
            raise todo.refuse(name, "is no field of a to-do")
    content = todo.required_text("content")
    if not content.strip():
        raise todo.refuse("content", "must not be blank")
    if len(content) > MAX_CONTENT:
        raise todo.refuse("content", f"must have at most {MAX_CONTENT} characters")
    status = _status(todo)
    # An earlier task is taken once: two to-dos of the same text never share an id.
    old = known.pop(content, None)
    if old is None:
        id_ = codec.sha256(codec.dumps([seed, content]))[:32]
        old = Task(content, content, created_at=iso(now), id=id_)
    return replace(old, state=status, metadata=_metadata(old.metadata, todo.text("priority")))


def _status(todo: Reader) -> TaskState:
    text = todo.text("status")
    if text is None or not text.strip():
        return TaskState.PENDING
    return todo.word("status", TaskState) or TaskState.PENDING


def _metadata(metadata: Mapping[str, Any], priority: str | None) -> dict[str, Any]:
    """Only known priorities are kept; others are ignored."""
    word = (priority or "").strip().lower()
    return {**metadata, "priority": word} if word in PRIORITIES else dict(metadata)


def told(context: TasksContext) -> str:
    """The list as the model reads it back."""
    if not context.tasks:
        return "Todo list cleared (0 items)."
    left = sum(1 for task in context.tasks if task.state is not TaskState.COMPLETED)
    return "\n".join([f"{left} open todo(s):", *map(_line, context.tasks)])


def _line(task: Task) -> str:
    priority = task.metadata.get("priority")
    more = f" (priority: {priority})" if priority else ""
    return f"- [{MARKS[task.state]}] {task.subject}{more}"
