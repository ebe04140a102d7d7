"""Redaction: the content is gone from every table and view, and every proof stays valid."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from agentadmin.engine.errors import InteractionPending, InvalidOperation
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import (
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    tool_message,
)
from agentadmin.engine.state import codec
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread, JournalFact, Payload
from sessions_app.selectors.exporting import export_text
from sessions_app.selectors.facts import fact_page
from sessions_app.selectors.sessions import session_threads
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.fork import Fork, fork_session
from sessions_app.services.importing import Import, import_state
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import change_message, make_thread, say
from tests.sessions.holding import Held
from tests.sessions.people import OPERATOR, person
from tests.sessions.proofs import check_proofs, everything_stored

pytestmark = pytest.mark.django_db

SECRET = "4111 1111 1111 1111"
ADMIN = person("ada", "admin")
REASON = "a card number"


def redact(thread: AgentThread, message_id: Any, **given: Any) -> Any:
    operation = {"op": "redact_message", "message_id": message_id, "replacement": "[card]"}
    answer = update_agent_state(
        actor=OPERATOR, thread=thread, reason=REASON, operations=[operation], **given
    )
    thread.refresh_from_db()
    return answer.body


def message_ids(thread: AgentThread) -> list[str | None]:
    return [message.id for message in state_at(thread).state.context]


def commit(thread: AgentThread, *messages: Any, facts: tuple[NewFact, ...] = ()) -> None:
    ref = thread_ref(thread)

    async def write() -> None:
        writer = await JournalWriter.open(thread_journal(), ref, lease=None)
        writer.state.context_mutable().extend(messages)
        await writer.flush(facts, reason="said")

    async_to_sync(write)()
    thread.refresh_from_db()


def test_what_was_said_is_gone_from_every_table_and_every_version() -> None:
    thread = make_thread()
    say(thread, f"pay with {SECRET}", "done")
    change_message(thread, 0, state_at(thread).state.context[0].raw | {"name": "alice"})
    assert SECRET in everything_stored()
    found = redact(thread, message_ids(thread)[0])
    assert found["effects"] == [
        "1 message redacted: the content is erased for good, history included."
    ]
    assert SECRET not in everything_stored()
    for version in range(1, thread.version + 1):
        assert state_at(thread, version).state.context[0].text == "[card]"
    first, second = transcript(thread).items
    assert first.message["content"] == [{"type": "text", "text": "[card]"}]
    assert second.message["content"][0]["text"] == "done"
    erased = [fact.seq for fact in fact_page(thread, limit=200).items if fact.erased]
    assert len(erased) == 2
    check_proofs(thread)


def test_a_message_that_left_the_context_is_erased_in_the_history_alone() -> None:
    thread = make_thread()
    say(thread, f"pay with {SECRET}", "done")
    [secret, _] = message_ids(thread)
    clear = [{"op": "clear_context"}]
    update_agent_state(actor=OPERATOR, thread=thread, reason=REASON, operations=clear)
    thread.refresh_from_db()
    before = thread.version
    found = redact(thread, secret)
    assert "left the working context" in found["effects"][0]
    assert (thread.version, state_at(thread).state.context) == (before, ())
    assert SECRET not in everything_stored()
    assert transcript(thread).items[0].message["content"][0]["text"] == "[card]"
    restore = [{"op": "restore", "version": 1}]
    update_agent_state(actor=OPERATOR, thread=thread, reason=REASON, operations=restore)
    thread.refresh_from_db()
    assert [message.text for message in state_at(thread).state.context] == ["[card]", "done"]
    assert SECRET not in everything_stored()
    check_proofs(thread)


def test_an_input_a_question_and_an_answer_are_erased_with_their_message() -> None:
    thread = make_thread()
    call = ToolUseBlock.make(id="c1", name="pay", input={"card": SECRET})
    made = assistant_message([call], name="demo")
    result = ToolResultBlock.make(id="c1", name="pay", output=f"paid by {SECRET}")
    paid = tool_message(result, name="demo")
    asked = {"interaction_id": "i1", "kind": "approval", "call_id": "c1", "tool": "pay"}
    question = {**asked, "input": {"card": SECRET}, "message": "", "suggested_rules": [SECRET]}
    answer = {"interaction_id": "i1", "decision": "approve", "answer": SECRET, "input": None}
    commit(
        thread,
        made,
        paid,
        facts=(
            NewFact(FactType.TURN_START, {"request_id": None, "input": [], "by": None}, "t1"),
            NewFact(FactType.INTERACTION_REQUESTED, question, "t1"),
            NewFact(FactType.INTERACTION_RESOLVED, answer, "t1"),
            NewFact(FactType.TURN_COMPLETED, {"outcome": "done", "reply": None}, "t1"),
        ),
    )
    redact(thread, made.id)
    assert f"paid by {SECRET}" in everything_stored()
    redact(thread, paid.id)
    assert SECRET not in everything_stored()
    check_proofs(thread)


def test_a_long_message_and_one_inside_a_replacement_are_erased() -> None:
    thread = make_thread()
    say(thread, f"{SECRET} " * 5_000, "two", f"three {SECRET}")
    ref = thread_ref(thread)

    async def write() -> None:
        writer = await JournalWriter.open(thread_journal(), ref, lease=None)
        context = writer.state.context_mutable()
        moved = context.pop(2)
        context.insert(0, moved.replace(content=[{"type": "text", "text": f"again {SECRET}"}]))
        await writer.flush(reason="moved")

    async_to_sync(write)()
    thread.refresh_from_db()
    assert Payload.objects.filter(thread=thread).exists()
    for message_id in message_ids(thread)[:2]:
        redact(thread, message_id)
    assert SECRET not in everything_stored()
    assert [m.text for m in state_at(thread).state.context] == ["[card]", "[card]", "two"]
    check_proofs(thread)


def test_the_imported_file_goes_with_a_message_that_came_in_it() -> None:
    state = {"session_id": "s", "context": [{"id": "m1", "role": "USER", "content": []}]}
    state["context"][0]["content"] = [{"type": "text", "text": SECRET}]  # type: ignore[index]
    wanted = Import(document=codec.dumps(state), session_id="imported")
    [thread] = session_threads(import_state(actor=OPERATOR, wanted=wanted))
    say(thread, f"later {SECRET}")
    redact(thread, message_ids(thread)[1])
    assert SECRET in export_text(thread)
    redact(thread, "m1")
    assert SECRET not in export_text(thread)
    assert SECRET not in everything_stored()
    check_proofs(thread)


def test_ids_with_odd_characters_are_found_and_others_left_alone() -> None:
    thread = make_thread()
    say(thread, "one", "two")
    odd = '%_"\\\0\ud800 日本'
    change = state_at(thread).state.context[0].raw | {"id": odd}
    change["content"] = [{"type": "text", "text": SECRET}]
    change_message(thread, 0, change)
    redact(thread, odd)
    assert SECRET not in everything_stored()
    assert [m.text for m in state_at(thread).state.context] == ["[card]", "two"]


def test_an_id_of_any_length_is_looked_for() -> None:
    thread = make_thread()
    say(thread, "one")
    long = "y" * 60_000
    with pytest.raises(InvalidOperation, match="no message"):
        redact(thread, long)
    said = {"id": long, "content": [{"type": "text", "text": SECRET}]}
    change_message(thread, 0, state_at(thread).state.context[0].raw | said)
    redact(thread, long)
    assert SECRET not in everything_stored()


def test_a_patch_that_wrote_a_message_is_erased_from_audit_and_mailbox() -> None:
    thread = make_thread()
    say(thread, "one")
    [id_] = message_ids(thread)
    step = {"op": "replace", "path": "/context/0/content/0/text", "value": SECRET}
    patch = [{"op": "json_patch", "patch": [step]}]
    update_agent_state(actor=ADMIN, thread=thread, reason=REASON, operations=patch)
    thread.refresh_from_db()
    held = Held(thread)
    step["value"] = f"{SECRET} again"
    update_agent_state(actor=ADMIN, thread=thread, reason=REASON, operations=patch, on_busy="wait")
    held.at_the_end()
    assert held.end()
    thread.refresh_from_db()
    assert "again" in state_at(thread).state.context[0].text
    redact(thread, id_)
    assert SECRET not in everything_stored()
    check_proofs(thread)


def test_a_redaction_says_that_forks_keep_their_copy() -> None:
    thread = make_thread()
    say(thread, SECRET)
    fork_session(actor=OPERATOR, fork=Fork(thread=thread, session_id="second", reason=REASON))
    effects = redact(thread, message_ids(thread)[0])["effects"]
    assert "Threads forked from this one keep what they took along: 1." in effects


def test_a_message_of_a_turn_that_waits_in_the_queue_is_refused() -> None:
    thread = make_thread()
    say(thread, "one")
    raw = state_at(thread).state.context[0].raw | {"id": "queued"}
    start = {"request_id": None, "input": [raw], "by": None}
    commit(thread, facts=(NewFact(FactType.TURN_START, start, "t1"),))
    with pytest.raises(InvalidOperation, match="cancel the turn"):
        redact(thread, "queued")
    with pytest.raises(InvalidOperation, match="no message"):
        redact(thread, "unknown")


def test_a_waiting_thread_refuses_and_a_dry_run_erases_nothing() -> None:
    thread = make_thread()
    say(thread, SECRET)
    redact(thread, message_ids(thread)[0], dry_run=True)
    assert SECRET in everything_stored()
    asked = {"interaction_id": "i1", "kind": "approval", "call_id": "c1", "tool": "t"}
    start = NewFact(FactType.TURN_START, {"request_id": None, "input": [], "by": None}, "t1")
    say(thread, facts=(start, NewFact(FactType.INTERACTION_REQUESTED, asked, "t1")))
    with pytest.raises(InteractionPending):
        redact(thread, message_ids(thread)[0])
    assert SECRET in everything_stored()


def test_a_run_that_holds_the_thread_redacts_at_its_end() -> None:
    thread = make_thread()
    say(thread, SECRET, "two")
    held = Held(thread)
    redact(thread, message_ids(thread)[0], on_busy="wait")
    held.between_steps()
    assert SECRET in everything_stored()
    held.at_the_end()
    assert SECRET not in everything_stored()
    assert held.writer.state.context[0].text == "[card]"
    check_proofs(thread)


def test_no_fact_moves_or_goes() -> None:
    thread = make_thread()
    say(thread, SECRET, "two")
    facts = JournalFact.objects.filter(thread=thread).order_by("seq")
    before = [(f.seq, f.type, bytes(f.payload_commit), f.occurred_at) for f in facts]
    redact(thread, message_ids(thread)[0])
    after = [(f.seq, f.type, bytes(f.payload_commit), f.occurred_at) for f in facts.all()]
    assert after[: len(before)] == before
