"""The task list of a state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from agentadmin.engine.identity import new_hex
from agentadmin.engine.state.reading import Raw, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable

_TASK_FIELDS = frozenset(
    {
        "subject",
        "description",
        "metadata",
        "created_at",
        "state",
        "id",
        "owner",
        "blocks",
        "blocked_by",
    }
)


class TaskState(StrEnum):
    """How far a task has come."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do."""

    subject: str
    description: str
    metadata: Raw = field(default_factory=dict)
    created_at: str | None = None
    state: TaskState = TaskState.PENDING
    id: str = field(default_factory=new_hex)
    owner: str | None = None
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    extra: Raw = field(default_factory=dict)

    @classmethod
    def from_reader(cls, reader: Reader) -> Self:
        metadata = reader.object("metadata")
        for key, value in metadata.items():
            if value is None:
                raise reader.refuse(f"metadata.{key}", "must not be null")
        return cls(
            subject=reader.required_text("subject"),
            description=reader.required_text("description"),
            metadata=metadata,
            created_at=reader.text("created_at"),
            state=reader.word("state", TaskState) or TaskState.PENDING,
            id=reader.text("id") or new_hex(),
            owner=reader.text("owner"),
            blocks=reader.texts("blocks"),
            blocked_by=reader.texts("blocked_by"),
            extra=reader.rest(_TASK_FIELDS),
        )

    def to_dict(self) -> Raw:
        return {
            "subject": self.subject,
            "description": self.description,
            "metadata": self.metadata,
            "created_at": self.created_at,
            "state": self.state.value,
            "id": self.id,
            "owner": self.owner,
            "blocks": list(self.blocks),
            "blocked_by": list(self.blocked_by),
        } | self.extra


@dataclass(frozen=True, slots=True)
class TasksContext:
    """The tasks; `extra` holds the later fields, among them the revision."""

    tasks: tuple[Task, ...] = ()
    extra: Raw = field(default_factory=dict)

    @classmethod
    def from_dict(cls, raw: Any, path: str = "tasks_context") -> Self:
        reader = Reader(raw, path)
        reader.integer("revision", 0)
        tasks = tuple(Task.from_reader(task) for task in reader.children("tasks"))
        return cls(tasks, reader.rest(("tasks",)))

    def to_dict(self) -> Raw:
        return {"tasks": [task.to_dict() for task in self.tasks]} | self.extra

    @property
    def revision(self) -> int:
        """Grows by one with every accepted change."""
        return int(self.extra.get("revision") or 0)

    def with_tasks(self, tasks: Iterable[Task]) -> TasksContext:
        return replace(
            self, tasks=tuple(tasks), extra={**self.extra, "revision": self.revision + 1}
        )
