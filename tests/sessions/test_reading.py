"""Reads: pages, histories, versions, controls; none of them changes anything."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentadmin.access.errors import Hidden
from agentadmin.audit import later
from agentadmin.engine.errors import BadCursor, InvalidInput, NotFound
from agentadmin.engine.journal.facts import FactType
from sessions_app import mailbox
from sessions_app.models import AgentThread
from sessions_app.selectors import weight
from sessions_app.selectors.checkpoints import checkpoint_page
from sessions_app.selectors.controls import control_detail
from sessions_app.selectors.exporting import export_state
from sessions_app.selectors.facts import fact_page
from sessions_app.selectors.sessions import SessionFilters, session_detail, session_page
from sessions_app.selectors.threads import (
    state_at,
    thread_detail,
    thread_of_session,
)
from sessions_app.selectors.transcript import transcript
from sessions_app.services.sessions import note_read
from sessions_app.services.update_state import update_agent_state
from sessions_app.states import ControlKind
from tests.sessions.conftest import change_message, make_thread, say
from tests.sessions.people import OPERATOR, STRANGER, VIEWER, end_user

pytestmark = pytest.mark.django_db

EVERYTHING = SessionFilters()


def clear(thread: AgentThread) -> None:
    operations = [{"op": "clear_context"}]
    update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=operations)


def texts(thread: AgentThread, **given: Any) -> list[str]:
    return [e.message["content"][0]["text"] for e in transcript(thread, **given).items]


def test_pages_of_sessions_follow_each_other_without_overlap() -> None:
    made = [str(make_thread().session_id) for _ in range(7)]
    seen: list[str] = []
    cursor = None
    while True:
        page = session_page(VIEWER, EVERYTHING, cursor=cursor, limit=3)
        seen += [str(session.id) for session in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == made[::-1]


def test_a_page_of_sessions_is_one_query() -> None:
    for _ in range(3):
        make_thread()
    with CaptureQueriesContext(connection) as queries:
        session_page(OPERATOR, EVERYTHING)
    assert len(queries) == 1


def test_words_find_sessions_by_any_of_their_ids() -> None:
    wanted = make_thread(session_id="holiday in 東京", user_id="Alice", agent_id="planner")
    make_thread(session_id="other")
    for q in ("holi", "東京", "ALICE", "planner alice", str(wanted.session_id)):
        found = session_page(OPERATOR, SessionFilters(q=q))
        assert [s.id for s in found.items] == [wanted.session_id], q
    assert not session_page(OPERATOR, SessionFilters(q="holi bob")).items
    assert not session_page(OPERATOR, SessionFilters(q="%")).items


def test_filters_are_exact_and_nobody_is_not_a_name() -> None:
    hers, nobodys = make_thread(user_id="alice"), make_thread()
    assert [s.id for s in session_page(OPERATOR, SessionFilters(user_id="alice")).items] == [
        hers.session_id
    ]
    assert [s.id for s in session_page(OPERATOR, SessionFilters(user_id="")).items] == [
        nobodys.session_id
    ]
    assert not session_page(OPERATOR, SessionFilters(user_id="alic")).items
    assert len(session_page(OPERATOR, SessionFilters(status="idle")).items) == 2


def test_everybody_sees_their_own_places_only() -> None:
    hers = make_thread(user_id="alice")
    make_thread(user_id="bob")
    assert len(session_page(VIEWER, EVERYTHING).items) == 2
    assert not session_page(STRANGER, EVERYTHING).items
    assert [s.id for s in session_page(end_user("alice"), EVERYTHING).items] == [hers.session_id]
    with pytest.raises(Hidden):
        session_detail(STRANGER, hers.session_id, "sessions:read")
    with pytest.raises(Hidden):
        thread_detail(end_user("bob"), hers.id)


def test_malformed_cursors_and_limits_are_refused() -> None:
    with pytest.raises(BadCursor):
        session_page(OPERATOR, EVERYTHING, cursor="nonsense")
    with pytest.raises(InvalidInput):
        session_page(OPERATOR, EVERYTHING, limit=201)


def test_the_thread_of_a_session_is_the_named_one_or_main(thread: AgentThread) -> None:
    session = thread.session
    assert thread_of_session(session, None) == thread
    assert thread_of_session(session, str(thread.id)) == thread
    other = make_thread()
    with pytest.raises(NotFound):
        thread_of_session(session, str(other.id))


def test_every_version_can_be_read_again(thread: AgentThread) -> None:
    clear(thread)
    say(thread, "five")
    assert [m.text for m in state_at(thread, 1).state.context] == ["one", "two", "three", "four"]
    assert state_at(thread, 2).state.context == ()
    assert [m.text for m in state_at(thread).state.context] == ["five"]
    assert [v.version for v in checkpoint_page(thread).items] == [3, 2, 1]
    assert [v.version for v in checkpoint_page(thread, cursor="3", limit=1).items] == [2]
    with pytest.raises(NotFound):
        state_at(thread, 4)


def test_the_history_survives_clearing_and_says_what_is_still_in_context(
    thread: AgentThread,
) -> None:
    clear(thread)
    say(thread, "five", "six")
    found = transcript(thread)
    assert texts(thread) == ["one", "two", "three", "four", "five", "six"]
    assert [e.in_context for e in found.items] == [False] * 4 + [True] * 2
    assert found.as_of == thread.head_seq


def test_the_history_is_read_page_by_page_from_its_end(thread: AgentThread) -> None:
    newest = transcript(thread, limit=3)
    assert [e.message["content"][0]["text"] for e in newest.items] == ["two", "three", "four"]
    assert texts(thread, limit=3, before=newest.before) == ["one"]
    assert transcript(thread, limit=3, before=newest.before).before is None


def test_the_history_as_of_a_seq_knows_nothing_of_later(thread: AgentThread) -> None:
    seq = thread.head_seq
    clear(thread)
    say(thread, "five")
    found = transcript(thread, as_of=seq)
    assert [e.in_context for e in found.items] == [True] * 4


def test_a_changed_message_stands_in_its_place_with_its_newest_content(
    thread: AgentThread,
) -> None:
    first = transcript(thread).items[0]
    changed = {**first.message, "content": [{"type": "text", "text": "ONE"}]}
    change_message(thread, 0, changed)
    found = transcript(thread).items
    assert [e.message["content"][0]["text"] for e in found] == ["ONE", "two", "three", "four"]
    assert found[0].changed_seq == thread.head_seq
    assert texts(thread, as_of=first.seq) == ["one"]


def test_facts_come_in_order_and_by_type(thread: AgentThread) -> None:
    clear(thread)
    page = fact_page(thread, limit=2)
    assert [fact.seq for fact in page.items] == [1, 2]
    assert page.next_cursor == "2"
    rest = fact_page(thread, after=2)
    assert [fact.seq for fact in rest.items] == list(range(3, thread.head_seq + 2))
    only = fact_page(thread, types=[FactType.CONTEXT_REPLACED])
    assert [fact.type for fact in only.items] == [FactType.CONTEXT_REPLACED]
    assert not fact_page(thread, run_id="no run").items


def test_a_control_is_seen_by_whoever_sees_its_thread(thread: AgentThread) -> None:
    control = mailbox.request_control(
        thread=thread, kind=ControlKind.EDIT, actor=OPERATOR, reason="r"
    )
    assert control_detail(VIEWER, str(control.id)) == control
    for actor, id_ in ((STRANGER, control.id), (VIEWER, "nonsense"), (VIEWER, thread.id)):
        with pytest.raises(NotFound):
            control_detail(actor, id_)


def test_reading_changes_nothing(thread: AgentThread) -> None:
    def look() -> None:
        session_page(VIEWER, EVERYTHING)
        state_at(thread).state.context_mutable().clear()
        transcript(thread)
        fact_page(thread)
        checkpoint_page(thread)
        export_state(thread, "agentscope-java")

    look()
    with CaptureQueriesContext(connection) as queries:
        look()
    assert not [q["sql"] for q in queries if not q["sql"].startswith("SELECT")]
    assert len(state_at(thread).state.context) == 4


def test_reading_another_persons_conversation_is_audited_once_a_minute(
    thread: AgentThread,
) -> None:
    for _ in range(3):
        note_read(VIEWER, thread, "state")
        note_read(end_user("alice"), thread, "state")
    [entry] = later.discard()
    assert (entry.action, entry.actor.name) == ("threads.read_state", "victor")


def test_a_page_of_long_texts_ends_early_and_the_next_one_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(weight, "PAGE_CHARACTERS", 250_000)
    thread = make_thread()
    written = [f"{n} " + "x" * 100_000 if n % 2 else f"{n}" for n in range(9)]
    say(thread, *written)
    read: list[str] = []
    page = transcript(thread)
    while True:
        assert sum(len(t) for t in [e.message["content"][0]["text"] for e in page.items]) < 250_000
        read = [e.message["content"][0]["text"] for e in page.items] + read
        if page.before is None:
            break
        page = transcript(thread, before=page.before)
    assert read == written
    after, seqs = 0, list[int]()
    while True:
        facts = fact_page(thread, after=after)
        seqs += [fact.seq for fact in facts.items]
        assert sum(len(str(fact.payload)) for fact in facts.items) < 260_000
        if facts.next_cursor is None:
            break
        after = int(facts.next_cursor)
    assert seqs == list(range(1, thread.head_seq + 1))
    monkeypatch.setattr(weight, "PAGE_CHARACTERS", 10)
    assert len(transcript(thread).items) == 1
