"""Forking: a version becomes a session of its own, and both sides know of each other."""

from typing import Any

import pytest
from django.db.models import Q

from agentadmin.audit.models import AuditEntry
from agentadmin.audit.selectors import entry_document
from agentadmin.audit.verify import verify
from agentadmin.engine.errors import (
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InteractionPending,
    InvalidInput,
    MissingReason,
    NeedsReconcile,
    NotFound,
    SessionExists,
    StepUpRequired,
    ThreadBusy,
)
from agentadmin.engine.journal.facts import FactType, NewFact
from sessions_app.journal.rows import read_facts
from sessions_app.models import AgentSession, AgentThread
from sessions_app.selectors.checkpoint_words import title_of
from sessions_app.selectors.checkpoints import CheckpointKind, checkpoint_page
from sessions_app.selectors.lineage import forks_of, origin_of
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.fork import Fork, fork_session
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import make_thread, say
from tests.sessions.holding import RUN, Held
from tests.sessions.people import OPERATOR, STRANGER, VIEWER, end_user, person

pytestmark = pytest.mark.django_db

CLEAR = {"op": "clear_context"}
ALLOW = {"op": "add_rule", "behavior": "allow", "tool_name": "execute", "source": "session"}


def update(thread: AgentThread, *operations: dict[str, Any]) -> None:
    update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=list(operations))
    thread.refresh_from_db()


def fork(thread: AgentThread, actor: Any = OPERATOR, **given: Any) -> AgentSession:
    request_id = given.pop("request_id", None)
    wanted = Fork(thread=thread, **{"reason": "try again", **given})
    return fork_session(actor=actor, fork=wanted, request_id=request_id)


def test_a_fork_begins_with_the_state_of_its_version(thread: AgentThread) -> None:
    update(thread, CLEAR, {"op": "set_summary", "summary": "s"})
    made = fork(thread, version=1, session_id="second").threads.get()
    source, copy = state_at(thread, 1).state, state_at(made).state
    assert (copy.session_id, copy.user_id, copy.thread_id) == ("second", None, "main")
    assert copy.with_identity(source.session_id, None) == source
    assert made.version == 1
    assert made.agent_id == thread.agent_id


def test_its_history_begins_with_one_fact_for_each_message(thread: AgentThread) -> None:
    made = fork(thread).threads.get()
    facts = read_facts(Q(thread_id=made.id), 50)
    assert [fact.type for fact in facts] == [
        "migration/baseline",
        "message/user",
        "message/assistant",
        "message/user",
        "message/assistant",
    ]
    baseline = facts[0].payload
    assert (baseline["source"], baseline["count"], baseline["document"]) == ("fork", 4, None)
    assert baseline["from"] == {
        "session": str(thread.session_id),
        "thread": str(thread.id),
        "session_id": thread.session.session_id,
        "version": 1,
        "seq": state_at(thread, 1).seq,
    }
    assert len(transcript(made).items) == 4


def test_both_sides_say_where_they_come_from(thread: AgentThread) -> None:
    update(thread, CLEAR)
    made = fork(thread, version=1).threads.get()
    assert (made.forked_from_id, made.forked_version) == (thread.id, 1)
    assert origin_of(made) == thread
    assert forks_of(thread.session) == [made]
    assert (origin_of(thread), forks_of(made.session)) == (None, [])
    [first] = checkpoint_page(made).items
    assert (first.kind, first.row.reason) == (CheckpointKind.FORK, "try again")
    name = thread.session.session_id
    assert title_of(first) == f"Forked from version 1 of {name}"


def test_a_fork_goes_its_own_way(thread: AgentThread) -> None:
    made = fork(thread).threads.get()
    say(made, "only here")
    update(thread, CLEAR)
    assert len(state_at(made).state.context) == 5
    assert len(state_at(thread).state.context) == 0
    again = fork(made).threads.get()
    assert len(state_at(again).state.context) == 5


def test_the_audit_tells_it_on_both_sides(thread: AgentThread) -> None:
    made = fork(thread).threads.get()
    of_source = AuditEntry.objects.get(action="sessions.fork")
    of_fork = AuditEntry.objects.get(action="sessions.create", target=f"session:{made.session_id}")
    told = entry_document(of_source)
    assert told["content"]["fork"]["thread"] == str(made.id)
    assert of_source.target == f"thread:{thread.id}"
    assert entry_document(of_fork)["content"]["from"]["thread"] == str(thread.id)
    assert of_source.reason == of_fork.reason == "try again"
    assert verify()["ok"]


def test_a_run_refuses_a_fork(thread: AgentThread) -> None:
    held = Held(thread)
    with pytest.raises(ThreadBusy) as busy:
        fork(thread)
    assert busy.value.run_id == RUN
    held.end()
    fork(thread)


@pytest.mark.parametrize("status", ["paused", "waiting"])
def test_a_turn_that_has_not_ended_refuses_a_fork(thread: AgentThread, status: str) -> None:
    AgentThread.objects.filter(id=thread.id).update(status=status)
    with pytest.raises(Conflict):
        fork(thread)


def test_a_question_refuses_a_fork(thread: AgentThread) -> None:
    asked = {"interaction_id": "i-1", "kind": "approval", "call_id": "c1", "tool": "execute"}
    fact = NewFact(FactType.INTERACTION_REQUESTED, {**asked, "input": {}}, "turn-1", "run-1")
    say(thread, facts=(fact,))
    with pytest.raises(InteractionPending):
        fork(thread)


def test_an_unknown_outcome_refuses_a_fork(thread: AgentThread) -> None:
    call = {"call_id": "c1", "tool": "create_order", "effect": "external", "call_hash": "h"}
    say(thread, facts=(NewFact(FactType.TOOL_DISPATCH, call, "turn-1", "run-1"),))
    with pytest.raises(NeedsReconcile):
        fork(thread)
    assert AgentSession.objects.count() == 1


def test_a_taken_identity_is_named(thread: AgentThread) -> None:
    other = make_thread(session_id="taken")
    with pytest.raises(SessionExists) as exists:
        fork(thread, session_id="taken")
    assert exists.value.session_id == str(other.session_id)


def test_the_same_request_forks_once(thread: AgentThread) -> None:
    first = fork(thread, request_id="r")
    assert fork(thread, request_id="r") == first
    assert forks_of(thread.session) == [first.threads.get()]
    with pytest.raises(IdempotencyMismatch):
        fork(thread, request_id="r", session_id="other")


def test_a_fork_that_allows_more_than_its_source_does_now_is_widening(thread: AgentThread) -> None:
    update(thread, ALLOW)
    update(thread, {**ALLOW, "op": "remove_rule"})
    stale = person("olga", "operator", fresh=False)
    with pytest.raises(StepUpRequired):
        fork(thread, stale, version=2)
    fork(thread, stale, version=1)
    fork(thread, version=2)


def test_only_who_may_forks(thread: AgentThread) -> None:
    with pytest.raises(Forbidden):
        fork(thread, VIEWER)
    with pytest.raises(NotFound):
        fork(thread, STRANGER)
    with pytest.raises(NotFound):
        fork(thread, end_user("somebody else"))


@pytest.mark.parametrize("version", [9, 10**20])
def test_a_version_that_is_not_there_is_named(thread: AgentThread, version: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        fork(thread, version=version)
    assert refused.value.path == "version"


def test_a_fork_says_why_and_has_an_id_that_can_be_kept(thread: AgentThread) -> None:
    with pytest.raises(MissingReason):
        fork(thread, reason=" ")
    with pytest.raises(InvalidInput):
        fork(thread, session_id=" ")
    assert AgentSession.objects.count() == 1


def test_the_beginning_of_a_thread_can_be_forked(thread: AgentThread) -> None:
    made = fork(thread, version=0).threads.get()
    assert state_at(made).state.context == ()
    assert made.forked_version == 0
