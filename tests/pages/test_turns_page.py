"""The Turns page: what has not ended, in words, with what may be asked of it; its dialogs."""

import re

import pytest

from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.models import Turn
from runs_app.services.commits import append_facts
from runs_app.services.pause import pause_turn
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread, ControlRequest
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, new_thread, text
from tests.pages.test_commands import REASON, queue, running

pytestmark = pytest.mark.django_db(transaction=True)


def test_turns_of_every_thread_stand_there_until_they_end(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "/echo done")
    other = new_thread()
    talk(other, '/tool create_order {"sku": "tea"}')
    submit_turn(actor=SYSTEM, thread=other, input="after that", request_id="req-7")
    page = text(visit("operator").get("/turns"))
    assert "Waiting for approval: create_order" in page
    assert "1 ahead of it" in page
    assert "/echo done" not in page
    everything = text(visit("operator").get("/turns?status=all"))
    assert "/echo done" in everything
    assert "after that" in everything
    assert "after that" not in text(visit("operator").get("/turns?status=completed"))
    assert "after that" in text(visit("operator").get("/turns?status=queued&agent_id=demo"))
    assert "No turn fits" in text(visit("operator").get("/turns?agent_id=nobody"))
    assert "Every turn has ended" in text(visit("stranger").get("/turns"))


def test_a_refused_filter_names_what_is_allowed(visit: Visit) -> None:
    answer = visit("operator").get("/turns?status=sideways")
    assert answer.status_code == 422
    assert "must be open" in text(answer)


def test_pages_of_turns_follow_each_other_without_a_gap(visit: Visit) -> None:
    thread = new_thread()
    for n in range(60):
        queue(thread, f"{n:02}")
    who, seen, path = visit("operator"), [], "/turns"
    while path:
        page = html(who.get(path))
        seen += re.findall(r'href="[^"]*#t(\d+)"', page)
        older = re.search(r'href="(\?[^"]*cursor=[^"]*)" rel="next"', page)
        path = f"/turns{older[1].replace('&amp;', '&')}" if older else ""
    assert len(seen) == len(set(seen)) == 60


def test_a_viewer_sees_the_acts_with_the_permission_that_is_missing(
    visit: Visit, thread: AgentThread
) -> None:
    turn = queue(thread)
    page = text(visit("viewer").get("/turns"))
    assert "You need the permission runs:steer." in page
    assert visit("viewer").get(f"/turns/{turn.id}/pause").status_code == 403
    assert visit("stranger").get(f"/turns/{turn.id}/pause").status_code == 404


def test_a_turn_is_paused_and_resumed_through_the_dialogs(
    visit: Visit, thread: AgentThread
) -> None:
    who, turn = visit("operator"), queue(thread)
    dialog = text(who.fragment(f"/turns/{turn.id}/pause"))
    assert "a tool that runs is never cut off" in dialog
    short = who.post(f"/turns/{turn.id}/pause", htmx=True, reason="no")
    assert short.status_code == 422
    done = who.post(f"/turns/{turn.id}/pause", htmx=True, reason=REASON)
    assert "Paused." in text(done)
    turn.refresh_from_db()
    assert turn.state == "paused"
    dialog = html(who.fragment(f"/turns/{turn.id}/resume"))
    assert 'name="revision" value="2"' in dialog
    stale = who.post(f"/turns/{turn.id}/resume", htmx=True, reason=REASON, revision="1")
    assert stale.status_code == 409
    assert "revision 2 now" in text(stale)
    assert REASON in text(stale)
    done = who.post(f"/turns/{turn.id}/resume", htmx=True, reason=REASON, revision="2")
    assert "back in its place in the queue" in text(done)


def test_a_running_turn_shows_how_far_its_pause_has_come(visit: Visit, thread: AgentThread) -> None:
    who, turn = visit("operator"), running(thread)
    assert "no step after it ends, unpaused" in text(who.fragment(f"/turns/{turn.id}/pause"))
    strip = text(who.post(f"/turns/{turn.id}/pause", htmx=True, reason=REASON))
    assert "Pause requested by operator" in strip
    assert "pauses at its next safe point" in text(who.get("/turns"))
    assert "To take that back, resume it then." in text(who.get(address(thread)))
    control = ControlRequest.objects.get()
    ControlRequest.objects.update(state="effective", effective_at=control.requested_at)
    assert "Pause took effect, requested by operator" in text(who.get(address(thread)))


def test_a_turn_is_told_something_through_the_dialog(visit: Visit, thread: AgentThread) -> None:
    who, turn = visit("operator"), queue(thread)
    dialog = html(who.fragment(f"/turns/{turn.id}/steer"))
    assert "act-reason" not in dialog
    blank = who.post(f"/turns/{turn.id}/steer", htmx=True, message=" ")
    assert blank.status_code == 422
    assert "Write what the agent should know." in text(blank)
    done = who.post(f"/turns/{turn.id}/steer", htmx=True, message="mind the gap")
    assert "reads it when it goes on" in text(done)
    assert "1 text to read" in text(who.get("/turns"))
    assert "mind the gap" in text(who.get(address(thread)))
    Turn.objects.filter(id=turn.id).update(state="completed")
    late = who.post(f"/turns/{turn.id}/steer", htmx=True, message="too late")
    assert late.status_code == 409
    assert "too late" in html(late)


def test_unknown_outcomes_lead_to_their_form(visit: Visit, thread: AgentThread) -> None:
    turn = running(thread)
    wait = {"kind": "reconcile", "ids": ["c1", "c2"]}
    append_facts(thread, NewFact(FactType.TURN_SUSPENDED, {"wait": wait}, turn.id, "r"))
    page = visit("operator").get("/turns")
    assert "2 calls with unknown outcome" in text(page)
    assert f"/threads/{thread.id}/conversation#reconcile" in html(page)
    pause_turn(actor=SYSTEM, turn_id=turn.id)
    assert f"/threads/{thread.id}/conversation#reconcile" in html(visit("operator").get("/turns"))
