"""Creating, changing and retiring agents that are data: every change is a new version.

What runs keeps the version that it began with; the next turn takes the newest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction

from agentadmin.access.actor import WIDEN, ActorKind
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    StaleVersion,
    StepUpRequired,
)
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import PermissionContext
from agentadmin.engine.state.widening import widening
from runs_app.definitions.checks import read
from runs_app.definitions.comparing import compare, context_in
from runs_app.models import AgentDefinition
from runs_app.policies import MANAGE_AGENTS, agent_target
from runs_app.profiles import PROFILES
from runs_app.selectors.agents import newest_version
from runs_app.services.definitions import wake_defined
from sessions_app.services.idempotency import Answer, Once
from sessions_app.services.reasons import checked_reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.access.actor import Actor
    from runs_app.definitions.definition import Definition

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Write:
    """One new version, and what the audit log says of it."""

    action: str
    agent_id: str
    before: AgentDefinition | None
    name: str
    description: str
    definition: Json
    reason: str
    is_retired: bool = False


def create_agent(
    *,
    actor: Actor,
    agent_id: str,
    given: Mapping[str, Any],
    reason: str | None,
    request_id: str | None = None,
) -> AgentDefinition:
    """The first version of an agent. Raises InvalidDefinition, and Conflict for a taken id."""
    actor.require_everywhere(MANAGE_AGENTS)
    why = checked_reason(reason)
    definition = read(agent_id, given, PROFILES.tools())
    once = Once.of(actor, "createAgent", agent_id, request_id, {"given": given, "reason": why})
    if answer := once.answered():
        return _answered(answer)
    _refuse_function(agent_id)
    current = _current(agent_id)
    if current is not None and current.is_retired:
        raise Conflict(f"{agent_id} was retired; change it to bring it back.")
    if current is not None and not current.factory:
        raise Conflict(f"There is an agent {agent_id} already.")
    _check_widening(actor, PermissionContext(), definition)
    return _write(actor, once, 201, _of(definition, "agents.create", why, before=None))


def update_agent(
    *,
    actor: Actor,
    agent_id: str,
    given: Mapping[str, Any],
    reason: str | None,
    expected_version: int | None,
    request_id: str | None = None,
) -> AgentDefinition:
    """The next version. Raises StaleVersion when another one came first; equal ones make none."""
    actor.require_everywhere(MANAGE_AGENTS)
    _refuse_function(agent_id)
    current = _existing(agent_id)
    why = checked_reason(reason)
    definition = read(agent_id, given, PROFILES.tools())
    body = {"given": given, "reason": why, "version": expected_version}
    once = Once.of(actor, "updateAgent", agent_id, request_id, body)
    if answer := once.answered():
        return _answered(answer)
    before = codec.loads(current.definition)
    _check_version(current, expected_version, definition.to_dict())
    if before == definition.to_dict() and not current.is_retired:
        return current
    known = PermissionContext() if current.is_retired else context_in(before)
    _check_widening(actor, known, definition)
    return _write(actor, once, 200, _of(definition, "agents.update", why, before=current))


def retire_agent(
    *,
    actor: Actor,
    agent_id: str,
    reason: str | None,
    expected_version: int | None = None,
    request_id: str | None = None,
) -> AgentDefinition:
    """No new turn begins with it; what is under way ends, and changing it brings it back."""
    actor.require_everywhere(MANAGE_AGENTS)
    _refuse_function(agent_id)
    current = _existing(agent_id)
    why = checked_reason(reason)
    body = {"reason": why, "version": expected_version}
    once = Once.of(actor, "retireAgent", agent_id, request_id, body)
    if answer := once.answered():
        return _answered(answer)
    before = codec.loads(current.definition)
    if expected_version is not None:
        _check_version(current, expected_version, before)
    if current.is_retired:
        return current
    write = _Write(
        action="agents.retire",
        agent_id=agent_id,
        before=current,
        name=current.name,
        description=current.description,
        definition=before,
        reason=why,
        is_retired=True,
    )
    return _write(actor, once, 200, write)


def _of(
    definition: Definition, action: str, reason: str, *, before: AgentDefinition | None
) -> _Write:
    return _Write(
        action=action,
        agent_id=definition.agent_id,
        before=before,
        name=definition.name,
        description=definition.description,
        definition=definition.to_dict(),
        reason=reason,
    )


def _write(actor: Actor, once: Once, status: int, write: _Write) -> AgentDefinition:
    """Commit the version; whoever came second learns of the first one's."""
    try:
        with transaction.atomic():
            row = _insert(actor, write)
            once.remember(Answer(status, {"row": row.pk}))
            append(_entry(actor, write, row))
    except IntegrityError:
        if answer := once.answered():
            return _answered(answer)
        current = _existing(write.agent_id)
        raise _stale(current, write.definition) from None
    PROFILES.changed(write.agent_id)
    if not write.is_retired:
        wake_defined([write.agent_id])
    return row


def _insert(actor: Actor, write: _Write) -> AgentDefinition:
    version = newest_version(write.agent_id) + 1
    if write.before is not None and version != write.before.version + 1:
        raise _stale(_existing(write.agent_id), write.definition)
    AgentDefinition.objects.filter(agent_id=write.agent_id, is_current=True).update(
        is_current=False
    )
    return AgentDefinition.objects.create(
        agent_id=write.agent_id,
        version=version,
        name=write.name,
        description=write.description,
        definition=codec.dumps(write.definition),
        is_retired=write.is_retired,
        actor_name=actor.name,
        reason=write.reason,
    )


def _entry(actor: Actor, write: _Write, row: AgentDefinition) -> NewEntry:
    before = {} if write.before is None else codec.loads(write.before.definition or "{}")
    return NewEntry(
        namespace=None,
        actor=actor,
        action=write.action,
        target=agent_target(write.agent_id),
        outcome=Outcome.ALLOWED,
        reason=write.reason,
        content={"version": row.version, "diff": compare(before, write.definition)},
    )


def _answered(answer: Answer) -> AgentDefinition:
    return AgentDefinition.objects.get(pk=answer.body["row"])


def _current(agent_id: str) -> AgentDefinition | None:
    return AgentDefinition.objects.filter(agent_id=agent_id, is_current=True).first()


def _existing(agent_id: str) -> AgentDefinition:
    current = None if "\0" in agent_id else _current(agent_id)
    if current is None or current.factory:
        raise NotFound
    return current


def _refuse_function(agent_id: str) -> None:
    """An agent of Python code is changed there, and nowhere else."""
    source = PROFILES.sources().get(agent_id)
    if source is not None:
        raise Conflict(f"{agent_id} is defined by {source.path}, so it is changed there.")


def _check_version(current: AgentDefinition, expected: int | None, wanted: Json) -> None:
    if expected is None:
        raise InvalidInput("say which version you have read", path="expected_version")
    if expected != current.version:
        raise _stale(current, wanted)


def _stale(current: AgentDefinition, wanted: Json) -> StaleVersion:
    """What the caller wanted, compared with what is there now."""
    error = StaleVersion(current.version, compare(codec.loads(current.definition), wanted))
    error.detail = f"The agent has moved on to version {current.version}."
    return error


def _check_widening(actor: Actor, before: PermissionContext, definition: Definition) -> None:
    """An agent that may more than before is a widening of permissions like any other."""
    if not widening(before, definition.permissions):
        return
    actor.require_everywhere(WIDEN)
    if actor.kind is ActorKind.USER and not actor.is_fresh:
        raise StepUpRequired("Enter your password again to widen what an agent may do.")
