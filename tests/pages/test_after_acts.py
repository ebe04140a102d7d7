"""What an act leaves on the page: a strip that folds up, a fresh list, a word that goes."""

from datetime import timedelta

import pytest

from agentadmin.engine.clock import now
from agentadmin.engine.identity import new_id
from sessions_app.models import AgentThread, ControlRequest
from sessions_app.services.update_state import update_agent_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, text

pytestmark = pytest.mark.django_db(transaction=True)


def finished(thread: AgentThread, seconds: int) -> ControlRequest:
    """A control that took effect so long ago."""
    at = now() - timedelta(seconds=seconds)
    return ControlRequest.objects.create(
        thread=thread,
        kind="interrupt",
        actor="{}",
        actor_name="olga",
        reason="wrong customer",
        state="effective",
        requested_at=at,
        delivered_at=at,
        acknowledged_at=at,
        effective_at=at,
    )


def test_a_finished_act_shows_its_steps_and_folds_up_soon(
    visit: Visit, thread: AgentThread
) -> None:
    fresh = finished(thread, 1)
    shown = html(visit("operator").fragment(f"/controls/{fresh.id}"))
    assert "<details" not in shown
    assert "load delay:11s" in shown
    old = finished(thread, 11)
    folded = html(visit("operator").fragment(f"/controls/{old.id}"))
    assert "<summary" in folded
    assert "hx-get" not in folded
    assert "wrong customer" in folded
    assert "Acknowledged" in folded


def test_after_ones_own_act_the_list_of_versions_is_fresh(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    operations = [{"op": "set_summary", "summary": "short"}]
    update_agent_state(actor=SYSTEM, thread=thread, reason="tidy up", operations=operations)
    olga, act = visit("operator"), f"/threads/{thread.id}/act/clear_context"
    given = {"reason": "start afresh", "draft": "{}", "request_id": new_id()}
    page = html(olga.fragment(act))
    draft = page.partition('name="draft" value="')[2].partition('"')[0]
    olga.client.defaults["HTTP_HX_CURRENT_URL"] = f"http://x{address(thread, 'history')}?a=1"
    answer = olga.post(act, htmx=True, **{**given, "draft": draft.replace("&quot;", '"')})
    assert answer["HX-Redirect"] == address(thread, "history")
    thread.refresh_from_db()
    assert f"Applied as version {thread.version}." in text(olga.get(address(thread, "history")))


def test_the_word_of_a_message_names_its_turn_so_that_it_can_go_with_it(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    answer = visit("operator").post(address(thread, "messages"), htmx=True, text="hello")
    assert "Accepted" in text(answer)
    assert 'data-said="0' in html(answer)
