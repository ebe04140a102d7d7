"""Buttons equal the allowed transitions; messages, interrupts, cancels, unknown outcomes."""

import re
from typing import Any

import pytest

from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.models import Turn
from runs_app.pages.bar import control_bar
from runs_app.services.commits import append_facts
from runs_app.states import TurnCommand, TurnState, WaitKind, allows
from sessions_app.models import AgentThread, ControlRequest
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, new_thread, text

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "Because the test says so"
EVERY = [
    *((s, None) for s in TurnState if s is not TurnState.WAITING),
    *((TurnState.WAITING, wait) for wait in WaitKind),
]


def queue(thread: AgentThread, said: str = "hello") -> Turn:
    message = {"id": said, "role": "USER", "content": [{"type": "text", "text": said}]}
    payload = {"request_id": None, "input": [message], "by": {"name": "ann", "kind": "user"}}
    turn_id = f"turn-{said}"
    append_facts(thread, NewFact(FactType.TURN_START, payload, turn_id))
    thread.refresh_from_db()
    return Turn.objects.get(id=turn_id)


def running(thread: AgentThread) -> Turn:
    turn = queue(thread)
    payload = {"attempt": 1, "worker": "w-1", "agent": None, "why": "admitted"}
    append_facts(thread, NewFact(FactType.RUN_START, payload, turn.id, f"run-of-{turn.id}"))
    thread.refresh_from_db()
    turn.refresh_from_db()
    return turn


@pytest.mark.parametrize(("state", "wait"), EVERY)
def test_the_buttons_are_the_transition_table(
    thread: AgentThread, state: TurnState, wait: WaitKind | None
) -> None:
    turn = queue(thread)
    Turn.objects.filter(id=turn.id).update(state=state, wait_kind=wait)
    buttons = {button.name: button for button in control_bar(SYSTEM, thread).buttons}
    held = "resume" if state is TurnState.PAUSED else "pause"
    for name in ("interrupt", held, "steer", "cancel"):
        verdict = allows(TurnCommand(name), state, wait)
        assert buttons[name].reason == verdict.reason, (state, wait, name)


def test_a_control_that_is_off_stays_with_its_reason(visit: Visit, thread: AgentThread) -> None:
    page = html(visit("operator").get(address(thread)))
    off = re.search(r'<button[^>]+aria-disabled="true"[^>]+id="act-interrupt"', page)
    assert off
    assert "Nothing runs, so there is nothing to stop, pause or steer." in page
    viewer = text(visit("viewer").get(address(thread)))
    lacks = "runs:interrupt, runs:steer, runs:cancel and sessions:clear"
    assert f"You need the permissions {lacks}." in viewer
    assert "Sending needs the permission runs:submit." in viewer


def test_a_message_becomes_a_turn_once(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    who = visit("operator")
    path = f"/threads/{thread.id}/messages"
    first = who.post(path, htmx=True, text="hello", request_id="r1")
    assert "Accepted" in text(first)
    assert 'id="composer"' in html(first)
    again = who.post(path, htmx=True, text="hello", request_id="r1")
    assert "not doubled" in text(again)
    assert Turn.objects.count() == 1
    queued = who.post(path, text="second", request_id="r2")
    assert queued.status_code == 302
    assert "1 ahead of it" in text(who.get(queued["Location"]))


@pytest.mark.parametrize("said", ["", "   "])
def test_an_empty_message_is_refused_in_the_box(
    visit: Visit, thread: AgentThread, talk: Talk, said: str
) -> None:
    answer = visit("operator").post(f"/threads/{thread.id}/messages", htmx=True, text=said)
    assert answer.status_code == 422
    assert 'id="message-error"' in html(answer)
    assert not Turn.objects.exists()


def test_another_message_with_a_used_request_id_keeps_its_draft(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    path = f"/threads/{thread.id}/messages"
    visit("operator").post(path, htmx=True, text="one", request_id="r1")
    other = visit("operator").post(path, htmx=True, text="two", request_id="r1")
    assert other.status_code == 409
    assert ">two</textarea>" in html(other)


def test_an_interrupt_shows_how_far_it_has_come(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    running(thread)
    who, path = visit("operator"), f"/threads/{thread.id}/interrupt"
    assert "Interrupt" in text(who.fragment(path))
    short = who.post(path, htmx=True, reason="no", message="kept words")
    assert short.status_code == 422
    assert "kept words" in html(short)
    done = who.post(path, htmx=True, reason=REASON, message="Use the other branch")
    control = ControlRequest.objects.get()
    assert (control.kind, control.reason) == ("interrupt", REASON)
    assert f'id="control-{control.id}"' in html(done)
    assert 'hx-trigger="every 1s"' in html(done)
    step = who.fragment(f"/controls/{control.id}")
    assert "Requested" in text(step)
    assert "waiting" in text(step)
    page = html(who.get(address(thread)))
    assert f'id="control-{control.id}"' in page
    assert visit("stranger").fragment(f"/controls/{control.id}").status_code == 404


def test_an_interrupt_of_nothing_says_so(visit: Visit, thread: AgentThread) -> None:
    answer = visit("operator").post(f"/threads/{thread.id}/interrupt", htmx=True, reason=REASON)
    assert answer.status_code == 409
    assert "Nothing is running" in text(answer)


def test_a_queued_turn_is_shown_and_cancelled(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    running(thread)
    turn = queue(thread, "later")
    page = html(visit("operator").get(address(thread)))
    assert "In the queue" in page
    assert f'href="/turns/{turn.id}/cancel"' in page
    done = visit("operator").post(f"/turns/{turn.id}/cancel", htmx=True, reason=REASON)
    assert "Cancelled." in text(done)
    turn.refresh_from_db()
    assert turn.state == TurnState.CANCELLED
    again = visit("operator").post(f"/turns/{turn.id}/cancel", htmx=True, reason=REASON)
    assert again.status_code == 409


@pytest.mark.parametrize(("who", "status"), [("viewer", 403), ("stranger", 404)])
def test_who_may_not_command_is_refused(
    visit: Visit, thread: AgentThread, talk: Talk, who: str, status: int
) -> None:
    turn = queue(thread)
    for path in (
        f"/threads/{thread.id}/messages",
        f"/threads/{thread.id}/interrupt",
        f"/threads/{thread.id}/reconcile",
        f"/turns/{turn.id}/cancel",
    ):
        answer = visit(who).post(path, htmx=True, text="x", reason=REASON)
        assert answer.status_code == status, path


def uncertain(thread: AgentThread) -> Turn:
    """A call that was started by a worker that is gone."""
    turn = running(thread)
    run = f"run-of-{turn.id}"
    use = {"type": "tool_use", "id": "c1", "name": "create_order", "input": {"sku": "x"}}
    message = {"id": "a1", "role": "ASSISTANT", "name": "demo", "content": [use]}
    dispatch = {"call_id": "c1", "tool": "create_order", "effect": "external", "call_hash": "h"}
    wait = {"wait": {"kind": "reconcile", "ids": ["c1"]}}
    ended: dict[str, Any] = {"status": "suspended", "reason": None, "usage": {}}
    append_facts(
        thread,
        NewFact(FactType.MESSAGE_ASSISTANT, {"item": "a1", "message": message}, turn.id, run),
        NewFact(FactType.TOOL_DISPATCH, dispatch, turn.id, run),
        NewFact(FactType.TURN_SUSPENDED, wait, turn.id, run),
        NewFact(FactType.RUN_END, ended, turn.id, run),
    )
    thread.refresh_from_db()
    return turn


def test_an_unknown_outcome_is_recorded_from_the_page(visit: Visit, talk: Talk) -> None:
    thread = new_thread()
    turn = uncertain(thread)
    page = visit("operator").get(address(thread))
    assert "1 call with unknown outcome" in text(page)
    assert "Outcome unknown" in text(page)
    path = f"/threads/{thread.id}/reconcile"
    empty = visit("operator").post(path, htmx=True, reason=REASON)
    assert empty.status_code == 422
    fields = {"state-0": "success", "output-0": "order A-9", "reason": REASON}
    done = visit("operator").post(path, htmx=True, **fields)
    assert done.status_code == 200, text(done)
    turn.refresh_from_db()
    assert turn.wait_ids == "[]"
    assert "order A-9" in text(visit("operator").get(address(thread)))


def test_every_form_needs_its_token(visit: Visit, thread: AgentThread) -> None:
    client = visit("operator").client
    for path in (
        "/sessions/new",
        f"/threads/{thread.id}/messages",
        f"/threads/{thread.id}/interrupt",
        f"/threads/{thread.id}/act/clear_context",
        "/audit/verify",
        "/approvals/x/respond",
    ):
        assert client.post(path, {"reason": REASON}).status_code == 403, path


def test_the_head_says_what_a_turn_waits_for(visit: Visit, talk: Talk) -> None:
    thread = talk(new_thread(agent_id="nope"), "hello")
    page = text(visit("operator").get(address(thread)))
    assert "waits for its agent to be defined; define it or cancel the turn." in page
    assert "answer it or cancel it" not in page
