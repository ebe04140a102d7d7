"""An erased session offers nothing that it refuses, and says why at the place."""

import pytest

from agentadmin.access.services import create_user
from runs_app.jobs.runner import run_job
from sessions_app.models import AgentThread, Job
from tests.pages.conftest import PASSWORD, SYSTEM, Talk, Visitor, address, html, text

pytestmark = pytest.mark.django_db(transaction=True)

TABS = ("conversation", "state", "permissions", "plan", "history")


@pytest.fixture
def admin(db: None) -> Visitor:
    return Visitor(create_user(actor=SYSTEM, name="root", password=PASSWORD, role="admin"))


@pytest.fixture
def job(admin: Visitor, thread: AgentThread, talk: Talk) -> Job:
    """A session that is about to be erased."""
    talk(thread, "/echo zanzibar")
    reason = "The person asked for it"
    admin.post(f"/sessions/{thread.session_id}/erase", htmx=True, reason=reason)
    return Job.objects.get()


@pytest.mark.parametrize("is_done", [False, True], ids=["erasing", "erased"])
def test_no_act_and_no_message_box_is_offered(
    admin: Visitor, thread: AgentThread, job: Job, *, is_done: bool
) -> None:
    if is_done:
        run_job(str(job.id))
    page = admin.get(address(thread))
    assert "Nothing can be said or done here" in text(page)
    assert "Nothing was said yet" not in text(page)
    assert "<textarea" not in html(page)
    for tab in TABS:
        shown = admin.get(address(thread, tab))
        assert shown.status_code == 200, tab
        for act in ("/act/", "/fork", 'id="act-'):
            assert act not in html(shown), (tab, act)


def test_an_open_page_loses_its_message_box(admin: Visitor, thread: AgentThread, job: Job) -> None:
    news = html(admin.fragment(address(thread), after_seq=0))
    assert '<p class="note held" id="composer">' in news
    assert '<div id="now" data-gone>' in news


def test_its_head_shows_a_short_id(admin: Visitor, thread: AgentThread, job: Job) -> None:
    run_job(str(job.id))
    for tab in TABS:
        page = admin.get(address(thread, tab))
        assert f"erased-{thread.session_id}" not in html(page), tab
        assert f"Session {str(thread.session_id)[:8]}" in text(page), tab


def test_a_message_that_comes_too_late_is_refused_in_the_box(
    admin: Visitor, thread: AgentThread, job: Job
) -> None:
    refused = admin.post(address(thread, "messages"), htmx=True, text="hello")
    assert refused.status_code == 409
    assert 'id="message-error"' in html(refused)
    assert "hello" in html(refused)


def test_every_refusal_names_its_reason_for_the_place_that_asked(
    admin: Visitor, thread: AgentThread, job: Job
) -> None:
    refused = admin.post(f"/threads/{thread.id}/interrupt", htmx=True, reason="it is needed")
    assert refused.status_code == 409
    assert "data-detail" in html(refused)
