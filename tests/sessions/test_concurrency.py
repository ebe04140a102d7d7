"""Real threads, real connections: no acknowledged write is lost, nothing happens twice."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import async_to_sync
from django.db import connections

from agentadmin.audit.models import AuditEntry
from agentadmin.audit.verify import verify
from agentadmin.engine.clock import now
from agentadmin.engine.errors import AgentAdminError, SessionExists, StaleVersion
from agentadmin.engine.journal.loading import load
from agentadmin.engine.journal.projection import digest
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.state.mutations import apply_all
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentSession, AgentThread, JournalFact, StateSnapshot
from sessions_app.selectors.threads import state_at
from sessions_app.services.idempotency import Answer
from sessions_app.services.sessions import NewSession, create_session
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import say
from tests.sessions.people import OPERATOR

pytestmark = pytest.mark.django_db(transaction=True)


def at_once[T](jobs: list[Callable[[], T]], *, threads: int = 10) -> list[T | AgentAdminError]:
    """Run all jobs from threads that start together; refusals are results too."""
    gate = threading.Barrier(min(threads, len(jobs)))

    def run(index: int) -> T | AgentAdminError:
        if index < gate.parties:
            gate.wait()
        try:
            return jobs[index]()
        except AgentAdminError as refused:
            return refused
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(len(jobs))))


def add_rule(thread: AgentThread, n: int, **given: object) -> Answer:
    rule = {"op": "add_rule", "behavior": "deny", "tool_name": f"tool-{n}", "source": "session"}
    fresh = AgentThread.objects.select_related("session").get(id=thread.id)
    return update_agent_state(
        actor=OPERATOR,
        thread=fresh,
        reason="at once",
        operations=[rule],
        **given,  # type: ignore[arg-type]
    )


def test_fifty_rules_at_once_are_fifty_rules_or_named_conflicts(thread: AgentThread) -> None:
    results = at_once([lambda n=n: add_rule(thread, n) for n in range(50)])  # type: ignore[misc]
    done = [r for r in results if isinstance(r, Answer)]
    refused = [r for r in results if not isinstance(r, Answer)]
    assert all(isinstance(r, StaleVersion) for r in refused)
    rules = state_at(thread).state.permission_context.deny_rules
    assert len(rules) == len(done)
    assert {r.body["version"] for r in done} == set(range(2, len(done) + 2))
    assert len(done) > 10


def test_of_writers_with_one_expected_version_exactly_one_wins(thread: AgentThread) -> None:
    jobs = [lambda n=n: add_rule(thread, n, expected_version=1) for n in range(10)]  # type: ignore[misc]
    results = at_once(jobs)
    assert sum(isinstance(r, Answer) for r in results) == 1
    assert all(isinstance(r, Answer | StaleVersion) for r in results)
    thread.refresh_from_db()
    assert thread.version == 2


def test_one_request_sent_ten_times_at_once_happens_once(thread: AgentThread) -> None:
    results = at_once([lambda: add_rule(thread, 1, request_id="same") for _ in range(10)])
    bodies = [r.body for r in results if isinstance(r, Answer)]
    assert len(bodies) == 10
    assert all(body == bodies[0] for body in bodies)
    assert AuditEntry.objects.filter(action="state.update").count() == 1


def test_seq_has_no_gaps_and_version_counts_by_one(thread: AgentThread) -> None:
    at_once([lambda n=n: add_rule(thread, n) for n in range(20)])  # type: ignore[misc]
    thread.refresh_from_db()
    seqs = list(JournalFact.objects.filter(thread=thread).values_list("seq", flat=True))
    assert sorted(seqs) == list(range(1, thread.head_seq + 1))
    versions = StateSnapshot.objects.filter(thread=thread).values_list("version", flat=True)
    assert sorted(versions) == list(range(1, thread.version + 1))
    assert verify()["ok"]


def test_one_identity_is_created_once() -> None:
    new = NewSession(agent_id="demo", session_id="same")
    results = at_once([lambda: create_session(actor=OPERATOR, new=new) for _ in range(10)])
    assert sum(isinstance(r, AgentSession) for r in results) == 1
    [made] = AgentSession.objects.all()
    assert {r.session_id for r in results if isinstance(r, SessionExists)} == {str(made.id)}
    assert made.threads.count() == made.thread_count == 1


def test_an_edit_after_another_processs_edit_commits_to_the_right_state(
    thread: AgentThread,
) -> None:
    add_rule(thread, 1)
    say(thread, "from elsewhere")
    clear = [{"op": "set_summary", "summary": "told elsewhere"}]
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_edit_without_cache, thread, clear).result()
    add_rule(thread, 2)
    projection = async_to_sync(load)(thread_journal(), thread_ref(thread))
    newest = StateSnapshot.objects.filter(thread=thread).order_by("-version")[0]
    expected = digest(newest.version, bytes(newest.substate_commit), projection.items.values())
    assert bytes(newest.digest) == expected
    assert state_at(thread).state.summary == "told elsewhere"


def _edit_without_cache(thread: AgentThread, operations: list[dict[str, str]]) -> None:
    """As another process would: its own projection of the thread."""
    ref = thread_ref(thread)

    async def write() -> None:
        writer = await JournalWriter.open(thread_journal(), ref, lease=None)
        writer.state = apply_all(writer.state, operations, now=now())
        await writer.flush(reason="elsewhere")

    try:
        async_to_sync(write)()
    finally:
        connections.close_all()
