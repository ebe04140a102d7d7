"""Erasing a session: what was said is gone everywhere, and everything still verifies."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.db import connection

from agentadmin.access.actor import Actor
from agentadmin.audit.models import AuditEntry
from agentadmin.audit.verify import verify
from agentadmin.engine.errors import Conflict, InvalidInput, NotFound, SessionErased
from agentadmin.engine.journal.loading import load
from agentadmin.engine.state import codec
from runs_app.jobs.progress import Progress
from runs_app.jobs.runner import WORK, run_job, sweep_jobs
from runs_app.models import Turn
from runs_app.services.erasure import request_erasure, stop_job
from runs_app.services.submit import submit_turn
from runs_app.states import TurnState
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentSession, AgentThread, Job, JournalFact
from sessions_app.selectors.sessions import SessionFilters, session_page
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.sessions import NewSession, create_session
from sessions_app.services.update_state import update_agent_state
from sessions_app.states import JobKind, JobState
from tests.runs.conftest import Work

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "zanzibar"
REASON = "the person asked for it"


@pytest.fixture
def told(thread: AgentThread, actor: Actor, work: Work) -> AgentThread:
    """A thread in which the secret was said, called with, asked for, and summed up."""
    for text in (
        f"/echo {SECRET}",
        f'/tool create_order {{"sku": "{SECRET}"}}',
        f"/echo {SECRET} 2",
    ):
        submit_turn(actor=actor, thread=thread, input=text, request_id=None)
    work(thread)
    operations = [
        {
            "op": "add_rule",
            "behavior": "deny",
            "tool_name": SECRET,
            "rule_content": None,
            "source": SECRET,
        }
    ]
    update_agent_state(actor=actor, thread=thread, reason=SECRET, operations=operations)
    thread.refresh_from_db()
    return thread


def erased(actor: Actor, thread: AgentThread) -> Job:
    job = request_erasure(actor=actor, session_id=thread.session_id, reason=REASON)
    run_job(str(job.id))
    job.refresh_from_db()
    return job


def everywhere() -> list[str]:
    """The tables in which the secret still stands."""
    found = []
    with connection.cursor() as cursor:
        for model in apps.get_models():
            table = connection.ops.quote_name(model._meta.db_table)
            cursor.execute(f"SELECT * FROM {table}")
            if any(SECRET in str(_readable(value)) for row in cursor.fetchall() for value in row):
                found.append(model._meta.db_table)
    return found


def _readable(value: Any) -> Any:
    return bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else value


def test_nothing_that_was_said_is_left_in_any_table(told: AgentThread, actor: Actor) -> None:
    assert everywhere()

    job = erased(actor, told)

    assert (job.state, job.error) == (JobState.COMPLETED, "")
    assert everywhere() == []


def test_facts_keep_their_places_and_commitments_and_still_fold(
    told: AgentThread, actor: Actor
) -> None:
    before = list(JournalFact.objects.order_by("seq").values_list("seq", "type", "payload_commit"))
    digests = {
        version: async_to_sync(load)(thread_journal(), thread_ref(told), version).items
        for version in range(1, told.version + 1)
    }

    job = erased(actor, told)

    after = JournalFact.objects.order_by("seq").values_list("seq", "type", "payload_commit")
    assert [row for row in after if row[0] <= len(before)] == before
    told.refresh_from_db()
    for version, items in digests.items():
        folded = async_to_sync(load)(thread_journal(), thread_ref(told), version)
        assert [i.commit for i in folded.items.values()] == [i.commit for i in items.values()]
    assert codec.loads(job.result)["erased"]["facts"] >= len(before)


def test_the_audit_chain_is_intact_and_tells_of_the_erasure(
    told: AgentThread, actor: Actor
) -> None:
    job = erased(actor, told)

    verdict = verify()
    assert verdict["ok"]
    assert verdict["erased"] > 0
    entry = AuditEntry.objects.get(action="sessions.erase")
    assert (entry.reason, entry.target_label) == (REASON, str(job.session_id))


def test_what_is_left_can_still_be_read(told: AgentThread, actor: Actor) -> None:
    erased(actor, told)

    told = AgentThread.objects.select_related("session").get(id=told.id)
    assert [m.text for m in state_at(told).state.context] == [""] * told.context_messages
    assert transcript(told).items


def test_the_session_leaves_the_list_and_its_name_is_free_again(
    told: AgentThread, actor: Actor
) -> None:
    name = told.session.session_id

    erased(actor, told)

    assert session_page(actor, SessionFilters()).items == []
    again = create_session(actor=actor, new=NewSession(agent_id="demo", session_id=name))
    assert again.id != told.session_id


def test_from_the_request_on_a_session_takes_no_command(thread: AgentThread, actor: Actor) -> None:
    person = Actor.system("ann")
    job = request_erasure(actor=person, session_id=thread.session_id, reason=REASON)
    thread = AgentThread.objects.select_related("session").get(id=thread.id)

    assert thread.session.erasing_since is not None
    with pytest.raises(SessionErased):
        request_erasure(actor=person, session_id=thread.session_id, reason=REASON)
    assert Job.objects.get() == job


def test_what_waits_and_what_is_queued_is_cancelled_first(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    submit_turn(
        actor=actor, thread=thread, input='/tool create_order {"sku": "tea"}', request_id=None
    )
    work(thread)
    submit_turn(actor=actor, thread=thread, input="/echo later", request_id=None)

    assert erased(actor, thread).state == JobState.COMPLETED

    assert set(Turn.objects.values_list("state", flat=True)) == {TurnState.CANCELLED}


def test_a_job_can_be_stopped_until_it_has_erased_something(
    thread: AgentThread, actor: Actor
) -> None:
    job = request_erasure(actor=actor, session_id=thread.session_id, reason=REASON)

    assert stop_job(actor=actor, job_id=job.id, reason="a mistake").state == JobState.STOPPED

    run_job(str(job.id))
    session = AgentSession.objects.get(id=thread.session_id)
    assert (session.erasing_since, session.erased_at) == (None, None)
    with pytest.raises(Conflict):
        stop_job(actor=actor, job_id=job.id, reason="a mistake")


def test_a_job_of_a_dead_worker_is_begun_again(
    told: AgentThread, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = request_erasure(actor=actor, session_id=told.session_id, reason=REASON)
    Job.objects.filter(id=job.id).update(
        state=JobState.RUNNING, attempts=1, lease_until=job.requested_at
    )
    sent: list[str] = []
    monkeypatch.setattr("runs_app.jobs.runner.dispatch_job", sent.append)

    sweep_jobs()
    for id_ in sent:
        run_job(id_)

    assert sent == [str(job.id)]
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.COMPLETED, 2)


def test_an_attempt_takes_the_thread_from_the_one_that_died_holding_it(
    told: AgentThread, actor: Actor
) -> None:
    job = request_erasure(actor=actor, session_id=told.session_id, reason=REASON)
    async_to_sync(thread_journal().claim)(thread_ref(told), f"erasure:{job.id}", 3600.0)
    run_job(str(job.id))
    job.refresh_from_db()
    assert job.state == JobState.COMPLETED
    assert everywhere() == []


def test_an_erasure_that_failed_half_way_may_be_asked_for_again(
    told: AgentThread, actor: Actor
) -> None:
    job = request_erasure(actor=actor, session_id=told.session_id, reason=REASON)
    Job.objects.filter(id=job.id).update(state=JobState.FAILED, total=9, done=4)
    again = erased(actor, told)
    assert (again.state, everywhere()) == (JobState.COMPLETED, [])
    with pytest.raises(SessionErased):
        request_erasure(actor=actor, session_id=told.session_id, reason=REASON)


def test_an_attempt_that_was_taken_over_does_not_end_the_job(
    told: AgentThread, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = request_erasure(actor=actor, session_id=told.session_id, reason=REASON)

    def overtaken(progress: Progress) -> None:
        Job.objects.filter(id=job.id).update(attempts=2)
        raise Conflict("fenced")

    monkeypatch.setitem(WORK, JobKind.ERASE, overtaken)
    run_job(str(job.id))
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.RUNNING, "")


def test_the_same_request_has_the_same_job(thread: AgentThread, actor: Actor) -> None:
    jobs = {
        request_erasure(
            actor=actor, session_id=thread.session_id, reason=REASON, request_id="r-1"
        ).id
        for _ in range(2)
    }
    assert len(jobs) == 1


@pytest.mark.parametrize("reason", [None, "", "   "])
def test_an_erasure_needs_a_reason(thread: AgentThread, actor: Actor, reason: str | None) -> None:
    with pytest.raises(InvalidInput):
        request_erasure(actor=actor, session_id=thread.session_id, reason=reason)
    assert not Job.objects.exists()


def test_a_foreign_session_is_not_found(actor: Actor, db: None) -> None:
    with pytest.raises(NotFound):
        request_erasure(actor=actor, session_id="019a0000-0000-7000-8000-000000000000", reason="x")
