"""Erasing what the rows beside the journal repeat of a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from runs_app.models import DemoOrder, Interaction, Run, Turn
from sessions_app.models import ControlRequest, IdempotencyKey, StateEntry

if TYPE_CHECKING:
    from sessions_app.models import AgentThread

GONE = "erased"


@transaction.atomic
def erase_rows(thread: AgentThread) -> int:
    """Take every word out of the rows of a thread; ids, states and times stay. How many rows."""
    turns = Turn.objects.filter(thread=thread)
    ids = [str(thread.id), str(thread.session_id), *turns.values_list("id", flat=True)]
    ids += Interaction.objects.filter(thread=thread).values_list("id", flat=True)
    rows = turns.update(input_preview="", request_id=None, actor_name="", error=None)
    rows += Run.objects.filter(thread=thread).update(reason=None, first_error=None)
    rows += Interaction.objects.filter(thread=thread).update(
        input="{}",
        call_hash="",
        suggested_rules="[]",
        choices="null",
        because="",
        message="",
        decided_by=None,
        reason=None,
    )
    rows += ControlRequest.objects.filter(thread=thread).update(
        payload="{}", actor='{"kind":"anonymous"}', actor_name="", reason=GONE, result="{}"
    )
    gone, _ = DemoOrder.objects.filter(thread=thread).delete()
    gone += IdempotencyKey.objects.filter(target__in=ids).delete()[0]
    return rows + gone + _entries(thread)


def _entries(thread: AgentThread) -> int:
    session = thread.session
    entries = StateEntry.objects.filter(
        namespace=session.namespace, user_id=session.user_id, session_id=session.session_id
    )
    return entries.delete()[0]
