"""Forms of the operations on directories, to-dos, tasks, groups, messages and raw documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import forms

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state import codec
from agentadmin.engine.state.redaction import DEFAULT_REPLACEMENT, MAX_REPLACEMENT
from agentadmin.engine.state.todos import MARKS
from sessions_app.forms import MAX_ID, RULE_SOURCE, OperationForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.state.tasks import TasksContext

MAX_LINES = 100_000
MAX_PATCH = 2_000_000
_TODO = re.compile(
    r"\s*(?:-\s+)?(?:\[(?P<mark>[ xX~])\]\s*)?(?P<content>.*?)"
    r"(?:\s*\(priority:\s*(?P<priority>high|medium|low)\))?\s*"
)
_STATUS = {mark: state.value for state, mark in MARKS.items()}


class DirectoryForm(OperationForm):
    """A working directory to remove."""

    path = forms.CharField(
        label="Path",
        max_length=4096,
        strip=False,
        error_messages={"required": "Name the directory."},
    )


class NewDirectoryForm(DirectoryForm):
    """A working directory to add."""

    def operation(self) -> dict[str, Any]:
        """It says that a person added it."""
        return {**super().operation(), "source": RULE_SOURCE}


class TodosForm(OperationForm):
    """The whole list as text, one to-do a line: `[x]` done, `[~]` in progress, `[ ]` open."""

    todos = forms.CharField(label="To-dos", max_length=MAX_LINES, required=False, strip=False)

    def operation(self) -> dict[str, Any]:
        """Empty lines mean nothing."""
        lines = self.cleaned_data["todos"].splitlines()
        return {"todos": [_todo(line) for line in lines if line.strip()]}


def _todo(line: str) -> dict[str, Any]:
    found = _TODO.fullmatch(line)
    parts = found.groupdict() if found else {"content": line, "mark": None, "priority": None}
    mark = (parts["mark"] or " ").lower()
    todo = {"content": parts["content"], "status": _STATUS[mark]}
    return {**todo, "priority": parts["priority"]} if parts["priority"] else todo


def todo_lines(context: TasksContext) -> str:
    """The list as `TodosForm` reads it; a text over several lines becomes one."""
    return "\n".join(
        f"[{MARKS.get(task.state, ' ')}] {' '.join(task.subject.split())}{_priority(task.metadata)}"
        for task in context.tasks
    )


def _priority(metadata: dict[str, Any]) -> str:
    priority = metadata.get("priority")
    return f" (priority: {priority})" if isinstance(priority, str) else ""


class TaskForm(OperationForm):
    """Another task, or another objective of the present one."""

    objective = forms.CharField(
        label="Objective",
        max_length=20_000,
        error_messages={"required": "Say what the task is to reach."},
    )
    requirements = forms.CharField(label="Requirements", max_length=MAX_LINES, required=False)
    task_id = forms.CharField(label="Task id", max_length=MAX_ID, required=False)

    def operation(self) -> dict[str, Any]:
        """One requirement a line; without an id it is another task."""
        given = self.cleaned_data
        lines = [line.strip() for line in given["requirements"].splitlines()]
        operation: dict[str, Any] = {"objective": given["objective"]}
        if given["task_id"]:
            operation["task_id"] = given["task_id"]
        return {**operation, "requirements": [{"text": line} for line in lines if line]}


class DecisionForm(OperationForm):
    """A requirement that is confirmed or rejected."""

    id = forms.CharField(strip=False)
    decision = forms.ChoiceField(choices=[("confirm", "confirm"), ("reject", "reject")])


class SubjectForm(OperationForm):
    """Which version of the subject checks count for; empty means that none does."""

    subject_version = forms.CharField(label="Subject version", max_length=20_000, required=False)

    def operation(self) -> dict[str, Any]:
        """Empty text means none."""
        return {"subject_version": self.cleaned_data["subject_version"] or None}


class GroupsForm(OperationForm):
    """The groups that shall be active; `set` tells an empty choice from none made."""

    set = forms.CharField(required=False)

    def operation(self) -> dict[str, Any]:
        """Every group that was ticked."""
        return {"groups": self._groups()}

    def kept(self) -> Iterator[tuple[str, str]]:
        """Every ticked group travels along."""
        yield "set", "1"
        yield from (("groups", group) for group in self._groups())

    def _groups(self) -> list[str]:
        several = getattr(self.data, "getlist", None)
        return [str(group) for group in several("groups")] if several else []


class RedactForm(OperationForm):
    """A message, and what stands in place of its content."""

    message_id = forms.CharField(
        label="Message id",
        strip=False,
        error_messages={"required": "Name the message."},
    )
    replacement = forms.CharField(
        label="Replacement", max_length=MAX_REPLACEMENT, required=False, initial=DEFAULT_REPLACEMENT
    )

    def operation(self) -> dict[str, Any]:
        """Without a replacement the usual one stands there."""
        given = self.cleaned_data
        replacement = given["replacement"] or DEFAULT_REPLACEMENT
        return {"message_id": given["message_id"], "replacement": replacement}


class PatchForm(OperationForm):
    """A JSON Patch as text."""

    patch = forms.CharField(
        label="JSON Patch",
        max_length=MAX_PATCH,
        error_messages={"required": "Write the steps of the patch."},
    )

    def clean_patch(self) -> Any:
        """The steps; what is no JSON is said at the field."""
        try:
            return codec.loads(self.cleaned_data["patch"])
        except InvalidInput as error:
            raise forms.ValidationError(error.detail) from error
