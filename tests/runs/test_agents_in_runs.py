"""Defined agents in real runs: a provider's wire, pinned versions, waiting for a definition."""

from collections.abc import Iterator
from typing import Any

import pytest

from agentadmin.access.actor import Actor
from agentadmin.engine.state import codec
from runs_app.models import Interaction, Run
from runs_app.profiles import PROFILES
from runs_app.services.agents import create_agent, retire_agent, update_agent
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.models import JournalFact
from tests.runs.conftest import Work, new_thread, turn_of
from tests.services.model_server import call, delta, events, serving_in_thread, status

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-very-secret-9876543210"
ALLOW = {
    "tool_name": "calculator",
    "rule_content": None,
    "behavior": "allow",
    "source": "definition",
}
OFFLINE = {"model": "offline:demo", "tools": ["calculator", "create_order"], "max_iters": 5}


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LOOPBACK_API_KEY", KEY)
    PROFILES.forget()
    yield
    PROFILES.forget()


def define(actor: Actor, agent_id: str = "helper", **fields: Any) -> None:
    create_agent(actor=actor, agent_id=agent_id, given={**OFFLINE, **fields}, reason="a test")


def change(actor: Actor, expected: int, **fields: Any) -> None:
    given = {**OFFLINE, **fields}
    update_agent(
        actor=actor, agent_id="helper", given=given, reason="a test", expected_version=expected
    )


def stamps() -> list[dict[str, Any]]:
    return [codec.loads(run.agent) for run in Run.objects.order_by("started_at")]


def test_a_turn_calls_a_tool_through_a_server_that_speaks_the_wire(
    actor: Actor, work: Work
) -> None:
    counted = {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 3}}
    with serving_in_thread(
        events(
            delta(reasoning_content="I should add."),
            call(0, id="c1", name="calculator", arguments='{"expre'),
            call(0, arguments='ssion": "2+3"}'),
            delta("tool_calls"),
            counted,
        ),
        status(503, "busy"),
        events(delta(content="It is 5."), delta("stop"), counted),
    ) as server:
        options = {"base_url": f"{server.url}/v1", "api_key_env": "LOOPBACK_API_KEY"}
        context = {"allow_rules": {"calculator": [ALLOW]}}
        define(actor, model="openai:local", options=options, permission_context=context)
        PROFILES.get("helper").agent.spec.model.retry = _quick()  # type: ignore[union-attr]
        thread = new_thread(actor, "helper")
        turn = submit_turn(actor=actor, thread=thread, input="What is 2+3?")
        work(thread)
    done = turn_of(turn.turn_id)
    assert (done.outcome, done.error) == ("done", None)
    assert server.requests[2].body["messages"][-1]["content"] == "5"
    run = Run.objects.get()
    assert (run.tokens_in, run.tokens_out, run.model_calls) == (22, 6, 2)
    assert stamps() == [{"id": "helper", "version": 1}]
    facts = list(JournalFact.objects.order_by("seq").values_list("payload", flat=True))
    assert any("It is 5." in payload for payload in facts)
    assert not any(KEY in payload for payload in facts)


def _quick() -> Any:
    from agentadmin.engine.models.base import RetryPolicy

    return RetryPolicy(first=0.01)


def test_a_key_that_is_refused_fails_the_turn_by_the_setting_s_name(
    actor: Actor, work: Work
) -> None:
    with serving_in_thread(status(401, {"error": {"message": f"bad key {KEY}"}})) as server:
        options = {"base_url": server.url, "api_key_env": "LOOPBACK_API_KEY"}
        define(actor, model="anthropic:local", options=options)
        thread = new_thread(actor, "helper")
        turn = submit_turn(actor=actor, thread=thread, input="hi")
        work(thread)
    error = turn_of(turn.turn_id).error or ""
    assert "does not accept the key in LOOPBACK_API_KEY" in error
    assert KEY not in error


def test_a_waiting_turn_keeps_its_version_and_the_next_one_takes_the_newest(
    actor: Actor, work: Work
) -> None:
    define(actor)
    thread = new_thread(actor, "helper")
    order = '/tool create_order {"sku": "tea"}'
    first = submit_turn(actor=actor, thread=thread, input=order)
    work(thread)
    assert turn_of(first.turn_id).state == "waiting"
    change(actor, 1, max_iters=9)
    second = submit_turn(actor=actor, thread=thread, input="/echo next")
    asked = Interaction.objects.get()
    respond_interaction(
        actor=actor, interaction_id=asked.id, decision="deny", call_hash=asked.call_hash
    )
    work(thread)
    assert [turn_of(t.turn_id).outcome for t in (first, second)] == ["done", "done"]
    assert [stamp["version"] for stamp in stamps()] == [1, 1, 2]


def test_a_retired_agent_s_turn_ends_and_the_next_one_waits_until_it_is_back(
    actor: Actor, work: Work
) -> None:
    define(actor)
    thread = new_thread(actor, "helper")
    first = submit_turn(actor=actor, thread=thread, input='/tool create_order {"sku": "tea"}')
    work(thread)
    retire_agent(actor=actor, agent_id="helper", reason="no use")
    second = submit_turn(actor=actor, thread=thread, input="/echo next")
    asked = Interaction.objects.get()
    respond_interaction(
        actor=actor, interaction_id=asked.id, decision="deny", call_hash=asked.call_hash
    )
    work(thread)
    assert turn_of(first.turn_id).outcome == "done"
    assert turn_of(second.turn_id).wait_kind == "definition"
    change(actor, 2)
    work(thread)
    assert turn_of(second.turn_id).outcome == "done"


def test_a_turn_of_an_unknown_agent_waits_and_wakes_when_it_is_defined(
    actor: Actor, work: Work
) -> None:
    thread = new_thread(actor, "helper")
    turn = submit_turn(actor=actor, thread=thread, input="/echo at last")
    work(thread)
    assert turn_of(turn.turn_id).wait_kind == "definition"
    define(actor)
    thread.refresh_from_db()
    assert thread.runnable_since is not None
    work(thread)
    assert turn_of(turn.turn_id).outcome == "done"


def test_another_process_s_change_is_seen_by_the_next_run(actor: Actor, work: Work) -> None:
    define(actor)
    thread = new_thread(actor, "helper")
    submit_turn(actor=actor, thread=thread, input="/echo one")
    work(thread)
    known = dict(PROFILES._newest)
    change(actor, 1, max_iters=9)
    PROFILES._newest.update(known)  # as a process would know it that was not told
    assert PROFILES.get("helper").version == 1  # type: ignore[union-attr]
    submit_turn(actor=actor, thread=thread, input="/echo two")
    work(thread)
    assert [stamp["version"] for stamp in stamps()] == [1, 2]
    assert PROFILES.get("helper").version == 2  # type: ignore[union-attr]


def test_an_agent_whose_tool_is_gone_fails_its_turn_with_the_reason(
    actor: Actor, work: Work, settings: Any
) -> None:
    settings.AGENTS = ["tests.runs.own_agent:build"]
    define(actor, tools=["shout"])
    settings.AGENTS = []
    PROFILES.forget()
    thread = new_thread(actor, "demo")
    thread = new_thread(actor, "helper")
    turn = submit_turn(actor=actor, thread=thread, input="hi")
    work(thread)
    assert "needs tools that are not here: shout" in (turn_of(turn.turn_id).error or "")


def test_an_agent_says_how_long_its_questions_wait(actor: Actor, work: Work) -> None:
    define(actor, answer_within=900)
    thread = new_thread(actor, "helper")
    submit_turn(actor=actor, thread=thread, input='/tool create_order {"sku": "tea"}')
    work(thread)
    asked = Interaction.objects.get()
    assert asked.expires_at is not None
    assert 890 < (asked.expires_at - asked.created_at).total_seconds() < 910
