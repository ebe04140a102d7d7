"""Compaction by hand: what stays, races, busy threads, and models that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.errors import InteractionPending, InvalidOperation, ModelError
from agentadmin.engine.journal.facts import FactType, NewFact
from sessions_app.models import AgentThread, ControlRequest
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services import compacting
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import say
from tests.sessions.holding import Held
from tests.sessions.people import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.messages import Msg

pytestmark = pytest.mark.django_db


def compact(thread: AgentThread, **given: Any) -> Any:
    operation = {"op": "compact"}
    if "keep" in given:
        operation["keep_messages"] = given.pop("keep")
    answer = update_agent_state(
        actor=OPERATOR, thread=thread, reason="nearly full", operations=[operation], **given
    )
    thread.refresh_from_db()
    return answer


def texts(thread: AgentThread) -> list[str]:
    return [message.text for message in state_at(thread).state.context]


async def fails(*_: object) -> str:
    raise ModelError("the provider is away", retryable=False)


def test_the_newer_half_stays_as_it_is_and_history_keeps_all(thread: AgentThread) -> None:
    before = state_at(thread).state.context
    compact(thread)
    state = state_at(thread).state
    assert state.summary == "Summary of 2 messages."
    assert list(state.context) == list(before[2:])
    assert len(transcript(thread).items) == 4
    compact(thread, keep=0)
    assert (state_at(thread).state.summary, texts(thread)) == ("Summary of 2 messages.", [])
    with pytest.raises(InvalidOperation, match="nothing to compact"):
        compact(thread)


def test_an_earlier_summary_goes_into_the_next_one(
    thread: AgentThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, str]] = []

    async def summarise(_: object, head: Sequence[Msg], earlier: str) -> str:
        asked.append((len(head), earlier))
        return f"summary {len(asked)}"

    monkeypatch.setattr(compacting, "summarise", summarise)
    compact(thread, keep=2)
    compact(thread, keep=1)
    assert asked == [(2, ""), (1, "summary 1")]
    assert state_at(thread).state.summary == "summary 2"


def test_a_dry_run_asks_no_model(thread: AgentThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compacting, "summarise", fails)
    found = compact(thread, dry_run=True).body
    assert found["diff"]["messages"]["after"] == 2
    with pytest.raises(ModelError):
        compact(thread)
    assert (thread.version, len(texts(thread))) == (1, 4)


def test_a_waiting_thread_keeps_its_messages(thread: AgentThread) -> None:
    start = NewFact(FactType.TURN_START, {"request_id": None, "input": [], "by": None}, "t1")
    asked = {"interaction_id": "i1", "kind": "approval", "call_id": "c1", "tool": "t"}
    say(thread, facts=(start, NewFact(FactType.INTERACTION_REQUESTED, asked, "t1")))
    with pytest.raises(InteractionPending):
        compact(thread)


def test_a_run_that_holds_the_thread_compacts_at_its_end(thread: AgentThread) -> None:
    held = Held(thread)
    compact(thread, on_busy="wait")
    held.between_steps()
    assert len(texts(thread)) == 4
    held.at_the_end()
    assert state_at(thread).state.summary == "Summary of 2 messages."
    assert [m.text for m in held.writer.state.context] == ["three", "four"]


def test_a_model_that_fails_there_ends_the_control_and_not_the_run(
    thread: AgentThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(thread)
    control = compact(thread, on_busy="wait").body["control_id"]
    monkeypatch.setattr(compacting, "summarise", fails)
    held.at_the_end()
    row = ControlRequest.objects.get(id=control)
    assert (row.state, "model_error" in row.result) == ("refused", True)
    assert held.end()
    assert len(texts(thread)) == 4
