"""The operation `redact_message`: what it looks up before, and what its commit erases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db.models import Q

from agentadmin.audit.erase import erase_bodies
from agentadmin.audit.format import Target
from agentadmin.engine.errors import DecodeError, InvalidOperation
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.state.reading import Reader
from agentadmin.engine.state.redaction import REDACT_MESSAGE, message_id_of, replacement_of
from sessions_app.journal.configured import message_redacted
from sessions_app.journal.redacting import (
    PATCHES,
    Redacted,
    holding,
    holds_message,
    redact_facts,
)
from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.journal.base import Committed, RowAction
    from agentadmin.engine.journal.facts import Fact
    from sessions_app.services.edits import Edit
    from sessions_app.services.resolving import Ground


UPDATE, STEER = "state.update", "turns.steer"
_QUESTIONS = {FactType.INTERACTION_REQUESTED, FactType.INTERACTION_RESOLVED}
IN_HISTORY = (
    "The message has left the working context already; its content is erased for good, "
    "history included."
)

_IN_FORKS = "Threads forked from this one keep what they took along: {}."


async def resolve_redact(operation: dict[str, Any], ground: Ground) -> dict[str, Any]:
    """Find out whether a message that has left the working context is in the history."""
    try:
        message_id = message_id_of(Reader(operation))
    except DecodeError as error:
        raise InvalidOperation(error.detail, path=error.path) from error
    if forks := await AgentThread.objects.filter(forked_from=ground.thread).acount():
        ground.told.append(_IN_FORKS.format(forks))
    # Whoever has the words on a page learns from a fact that they have to go.
    told = NewFact(FactType.MESSAGE_REDACTED, {"message_id": message_id}, required=False)
    if any(message.id == message_id for message in ground.state.context):
        ground.always.append(told)
        return operation
    if any(_holds(fact, message_id) for fact in ground.projection.inputs.values()):
        detail = "its turn has not begun; cancel the turn, then redact the message"
        raise InvalidOperation(detail, path="message_id")
    found = await sync_to_async(holds_message)(ground.thread.id, message_id)
    if found:
        ground.always.append(told)
        ground.told.append(IN_HISTORY)
    return {**operation, "in_history": found}


def _holds(fact: Fact, message_id: str) -> bool:
    return any(message.get("id") == message_id for message in fact.payload.get("input") or ())


def erasures(edit: Edit, thread: AgentThread) -> Sequence[RowAction]:
    """What the commit of an edit does to facts that were written before it."""
    redactions = [each for each in edit.operations if each["op"] == REDACT_MESSAGE.name]

    def erase(committed: Committed) -> None:
        for operation in redactions:
            reader = Reader(operation)
            found = redact_facts(
                thread.id,
                message_id_of(reader),
                replacement_of(reader),
                before=committed.first_seq,
            )
            erase_bodies(_repeating(thread, found, message_id_of(reader)))
            message_redacted(thread.id, found.facts)

    return (erase,) if redactions else ()


def _repeating(thread: AgentThread, found: Redacted, message_id: str) -> Q:
    """The audit entries whose bodies repeat what was redacted: answers, words to a run, patches.

    Their headers and proofs stay.
    """
    asked = [_key("interaction", fact.payload["interaction_id"]) for fact in found.of(_QUESTIONS)]
    steered = [_key("turn", fact.turn_id) for fact in found.of({FactType.INPUT_RECEIVED})]
    repeating = Q(target__in=asked) | Q(action=STEER, target__in=steered)
    for control in found.controls:
        repeating |= Q(body__contains=control)
    patches = Q(action=UPDATE, body__contains=PATCHES) & holding("body", message_id)
    return Q(within=str(thread.session_id)) & (repeating | patches)


def _key(kind: str, id_: Any) -> str:
    return Target(kind=kind, id=str(id_)).key
