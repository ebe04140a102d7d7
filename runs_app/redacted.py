"""After a redaction: the rows and the live stream repeat facts, so they have to say less, too."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from redis.exceptions import RedisError

from agentadmin import redis
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state import codec
from runs_app.fold import preview
from runs_app.live.wire import stream_key
from runs_app.models import Interaction, Turn
from runs_app.stream import writer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from agentadmin.engine.journal.facts import Fact

PATIENCE = 1.0

log = logging.getLogger(__name__)


def retell(thread_id: UUID, facts: Sequence[Fact]) -> None:
    """Bring rows to what these changed facts say; call it in the transaction that changed them."""
    for fact in facts:
        if fact.type == FactType.TURN_START:
            turns = Turn.objects.filter(id=fact.turn_id, thread_id=thread_id)
            turns.update(input_preview=preview(fact.payload.get("input") or []))
        elif fact.type == FactType.INTERACTION_REQUESTED:
            _ask_less(thread_id, fact)
    transaction.on_commit(partial(forget_stream, thread_id))


def _ask_less(thread_id: UUID, fact: Fact) -> None:
    asked = fact.payload
    rows = Interaction.objects.filter(id=asked["interaction_id"], thread_id=thread_id)
    rows.update(
        input=codec.dumps(asked.get("input")),
        suggested_rules=codec.dumps(asked.get("suggested_rules") or []),
        choices=codec.dumps(asked.get("choices")),
        message=asked.get("message") or "",
    )


def forget_stream(thread_id: UUID) -> None:
    """Empty the thread's stream; its top stays, so that nothing is appended twice."""
    # What is still on its way would come after the emptying.
    writer.flush(PATIENCE)
    try:
        with redis.commands_sync() as client:
            client.xtrim(stream_key(str(thread_id)), maxlen=0, approximate=False)
    except (RedisError, OSError) as error:
        log.warning("the live stream of %s still holds what was redacted: %s", thread_id, error)
