"""Erasing a session from its page: the dialog, the job's page, and what is left."""

import pytest

from agentadmin.access.services import create_user
from runs_app.jobs.runner import run_job
from sessions_app.models import AgentThread, Job
from tests.pages.conftest import PASSWORD, SYSTEM, Talk, Visit, Visitor, address, html, text

pytestmark = pytest.mark.django_db(transaction=True)

REASON = "The person asked for it"


@pytest.fixture
def admin(db: None) -> Visitor:
    return Visitor(create_user(actor=SYSTEM, name="root", password=PASSWORD, role="admin"))


def erase(admin: Visitor, thread: AgentThread) -> Job:
    answer = admin.post(f"/sessions/{thread.session_id}/erase", htmx=True, reason=REASON)
    job = Job.objects.get()
    assert answer["HX-Redirect"] == f"/jobs/{job.id}"
    return job


def test_the_dialog_says_what_goes_and_asks_why(admin: Visitor, thread: AgentThread) -> None:
    dialog = text(admin.get(f"/sessions/{thread.session_id}/erase"))
    assert "every message, tool call and result" in dialog
    assert "Nobody can bring it back" in dialog

    refused = admin.post(f"/sessions/{thread.session_id}/erase", reason="short")

    assert refused.status_code == 422
    assert not Job.objects.exists()


def test_a_job_can_be_followed_to_its_certificate(
    admin: Visitor, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "/echo zanzibar")
    job = erase(admin, thread)
    assert "Waiting for a worker" in text(admin.fragment(f"/jobs/{job.id}"))

    run_job(str(job.id))

    page = text(admin.get(f"/jobs/{job.id}"))
    assert "Certificate" in page
    assert "Every word of this session is gone" in page
    assert str(job.id) in html(admin.get("/jobs"))


def test_what_is_left_of_an_erased_session_is_a_page(
    admin: Visitor, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "/echo zanzibar", '/tool create_order {"sku": "zanzibar"}')
    run_job(str(erase(admin, thread).id))

    for page in ("conversation", "state", "permissions", "runs", "audit"):
        answer = admin.get(address(thread, page))
        assert answer.status_code == 200, page
        assert "zanzibar" not in html(answer)
    assert "its words are gone, its proofs stay" in text(admin.get(address(thread)))


def test_a_message_to_an_erased_session_is_refused_where_it_was_written(
    admin: Visitor, thread: AgentThread
) -> None:
    erase(admin, thread)

    refused = admin.post(address(thread, "messages"), htmx=True, text="hello")

    assert refused.status_code == 409
    assert "takes no command" in text(refused)


def test_a_job_is_stopped_from_its_page(admin: Visitor, thread: AgentThread) -> None:
    job = erase(admin, thread)
    admin.post(f"/jobs/{job.id}/stop", reason="It was a mistake")
    assert "Nothing was erased" in text(admin.get(f"/jobs/{job.id}"))


def test_who_may_not_erase_is_not_offered_it(visit: Visit, thread: AgentThread) -> None:
    page = visit("operator").get(address(thread))
    assert f"/sessions/{thread.session_id}/erase" not in html(page)
    assert "Erase the session… needs sessions:erase" in text(page)
    assert visit("operator").get(f"/sessions/{thread.session_id}/erase").status_code == 403
    assert visit("stranger").get(f"/sessions/{thread.session_id}/erase").status_code == 404
    assert "No jobs" in text(visit("viewer").get("/jobs"))
