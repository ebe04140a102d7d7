"""A redaction after real turns: rows, stream, snapshot and audit say less, and fold the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps

from agentadmin.audit.verify import verify
from agentadmin.engine.state import codec
from runs_app import stream
from runs_app.live.wire import stream_key
from runs_app.live_snapshot import thread_snapshot
from runs_app.models import DemoOrder, Interaction, Turn
from runs_app.recorder import folded
from runs_app.selectors.interactions import open_interactions
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.update_state import update_agent_state

if TYPE_CHECKING:
    from redis import Redis

    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread
    from tests.runs.conftest import Work

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "4111-1111"
TABLES = {"sessions_app", "runs_app", "audit"}


def redact_all(actor: Actor, thread: AgentThread) -> None:
    """Every message of the thread, one after the other."""
    for message in state_at(thread).state.context:
        operation = {"op": "redact_message", "message_id": message.id}
        update_agent_state(
            actor=actor, thread=thread, reason="a card number", operations=[operation]
        )
    thread.refresh_from_db()


def stored() -> str:
    """Every value of every table; the pretended external system keeps its own books."""
    models: list[Any] = [m for m in apps.get_models() if m._meta.app_label in TABLES]
    models.remove(DemoOrder)
    rows = (row for model in models for row in model.objects.values_list())
    return "\n".join(str(value) for row in rows for value in row)


def test_a_turn_with_an_approved_call_says_nothing_afterwards(
    thread: AgentThread, actor: Actor, work: Work, redis_client: Redis
) -> None:
    given = codec.dumps({"sku": SECRET, "quantity": 1})
    submit_turn(actor=actor, thread=thread, input=f"/tool create_order {given}")
    work(thread)
    [asked] = open_interactions(thread)
    respond_interaction(
        actor=actor,
        interaction_id=asked.id,
        request_id=None,
        decision="approve",
        call_hash=asked.call_hash,
        input={"sku": f"{SECRET}-edited", "quantity": 1},
    )
    work(thread)
    thread.refresh_from_db()
    assert stream.writer.flush(5)
    key = stream_key(str(thread.id))
    assert SECRET.encode() in b"".join(v for _, e in redis_client.xrange(key) for v in e.values())

    redact_all(actor, thread)

    assert SECRET not in stored()
    assert stream.writer.flush(5)
    entries = redis_client.xrange(key)
    assert SECRET.encode() not in b"".join(v for _, e in entries for v in e.values())
    assert SECRET not in codec.dumps(thread_snapshot(actor, thread.id))
    texts = [entry.message["content"] for entry in transcript(thread).items]
    assert len(texts) == 4
    assert SECRET not in codec.dumps(texts)
    assert verify()["ok"]
    book = folded(str(thread.id))
    row = Interaction.objects.get(id=asked.id)
    kept = book.interactions[asked.id]
    assert (kept.input, kept.message, kept.suggested_rules) == (
        row.input,
        row.message,
        row.suggested_rules,
    )
    turn = Turn.objects.get(thread=thread)
    assert book.turns[turn.id].input_preview == turn.input_preview == "[redacted]"


def test_a_thread_goes_on_after_a_redaction(
    thread: AgentThread, actor: Actor, work: Work, redis_client: Redis
) -> None:
    submit_turn(actor=actor, thread=thread, input=f"/echo {SECRET}")
    work(thread)
    redact_all(actor, thread)
    for text in ("/count", '/tool calculator {"expression": "6*7"}'):
        submit_turn(actor=actor, thread=thread, input=text)
    work(thread)
    said = [message.text for message in state_at(thread).state.context]
    assert said[:2] == ["[redacted]", "[redacted]"]
    assert said[3] == "3 messages"
    assert said[-1] == "calculator returned: 42"
    assert SECRET not in stored()
    assert SECRET not in str(redis_client.xrange(stream_key(str(thread.id))))
