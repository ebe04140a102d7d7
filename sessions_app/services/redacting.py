"""The operation `redact_message`: what it looks up before, and what its commit erases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db.models import Q

from agentadmin.audit.erase import erase_bodies
from agentadmin.audit.format import Target
from agentadmin.engine.errors import DecodeError, InvalidOperation
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state.reading import Reader
from agentadmin.engine.state.redaction import REDACT_MESSAGE, message_id_of, replacement_of
from sessions_app.journal.configured import message_redacted
from sessions_app.journal.redacting import Redacted, holds_message, redact_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.journal.base import Committed, RowAction
    from agentadmin.engine.journal.facts import Fact
    from sessions_app.models import AgentThread
    from sessions_app.services.edits import Edit
    from sessions_app.services.resolving import Ground


IN_HISTORY = (
    "The message has left the working context already; its content is erased for good, "
    "history included."
)


async def resolve_redact(operation: dict[str, Any], ground: Ground) -> dict[str, Any]:
    """Find out whether a message that has left the working context is in the history."""
    try:
        message_id = message_id_of(Reader(operation))
    except DecodeError as error:
        raise InvalidOperation(error.detail, path=error.path) from error
    if any(message.id == message_id for message in ground.state.context):
        return operation
    if any(_holds(fact, message_id) for fact in ground.projection.inputs.values()):
        detail = "its turn has not begun; cancel the turn, then redact the message"
        raise InvalidOperation(detail, path="message_id")
    found = await sync_to_async(holds_message)(ground.thread.id, message_id)
    if found:
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
            erase_bodies(_repeating(thread, found))
            message_redacted(thread.id, found.facts)

    return (erase,) if redactions else ()


def _repeating(thread: AgentThread, found: Redacted) -> Q:
    """The audit entries whose bodies repeat what was redacted: answers, and interrupts with words.

    Their headers and proofs stay.
    """
    asked = [
        Target(kind="interaction", id=str(fact.payload["interaction_id"])).key
        for fact in found.facts
        if fact.type in (FactType.INTERACTION_REQUESTED, FactType.INTERACTION_RESOLVED)
    ]
    repeating = Q(target__in=asked)
    for control in found.controls:
        repeating |= Q(body__contains=control)
    return Q(within=str(thread.session_id)) & repeating
