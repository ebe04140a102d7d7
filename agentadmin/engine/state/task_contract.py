"""The later fields of a tasks context: the task's scope, its requirements, the checked subject.

They live in `TasksContext.extra` under their wire names and are absent when unused (spec §6.3). The
model can never confirm a requirement; progress, requirements and checks are independent.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.reading import Raw, Reader

if TYPE_CHECKING:
    from agentadmin.engine.state.tasks import TasksContext

SCOPE = "scope"
REQUIREMENTS = "requirements"
VERIFICATIONS = "verifications"
CONTRACT_VERSION = "contract_version"
SUBJECT_VERSION = "subject_version"


class RequirementStatus(StrEnum):
    """What a trusted caller has said about a requirement."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"


def scope_of(context: TasksContext) -> Raw:
    """The task that was begun; empty when none was."""
    return _reader(context).object(SCOPE)


def requirements_of(context: TasksContext) -> list[Raw]:
    """The requirements as they stand, each an object. Raises DecodeError for anything else."""
    return [child.raw for child in _reader(context).children(REQUIREMENTS)]


def verifications_of(context: TasksContext) -> list[Raw]:
    """The checks that were made, each an object."""
    return [child.raw for child in _reader(context).children(VERIFICATIONS)]


def contract_version(context: TasksContext) -> int:
    """Grows with the task, a requirement's decision, and the checked subject."""
    return _reader(context).integer(CONTRACT_VERSION, 0)


def is_stale(context: TasksContext, verification: Raw) -> bool:
    """Whether a check was made of another contract or subject: then it supports nothing."""
    return verification.get(CONTRACT_VERSION, 0) != contract_version(context) or verification.get(
        SUBJECT_VERSION
    ) != context.extra.get(SUBJECT_VERSION)


def with_contract(context: TasksContext, **fields: Any) -> TasksContext:
    """Another contract: its version and the tasks' revision grow; a field that is None goes."""
    extra = {**context.extra, **fields}
    extra[CONTRACT_VERSION] = contract_version(context) + 1
    extra["revision"] = context.revision + 1
    return replace(context, extra={k: v for k, v in extra.items() if v is not None})


def _reader(context: TasksContext) -> Reader:
    return Reader(context.extra, "tasks_context")
