"""Real models in real runs: retries, interruption, and what a process loads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine import InMemoryThreadJournal, RuntimeContext, tool
from agentadmin.engine.agents.harness import HarnessAgent
from agentadmin.engine.errors import InvalidInput, ModelError
from agentadmin.engine.messages import user_message
from agentadmin.engine.models.options import ModelOptions
from agentadmin.engine.models.registry import create
from tests.engine.models.asking import KEY, KEY_ENV, chunks, model, text
from tests.services.model_server import (
    Line,
    Request,
    call,
    delta,
    events,
    serving,
    serving_in_thread,
    sse,
    status,
)

if TYPE_CHECKING:
    from agentadmin.engine.agents.agent import Agent
    from tests.services.model_server import ModelServer

STOP = delta("stop")
CONTEXT = RuntimeContext.builder().session_id("s").build()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


@tool(effect="none")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent(server: ModelServer) -> Agent:
    builder = HarnessAgent.builder().name("x").model(model(server.url)).tools(add)
    return builder.thread_journal_store(InMemoryThreadJournal()).build()


def allow_all(made: Agent) -> Agent:
    from dataclasses import replace

    from agentadmin.engine.state.permissions import Behavior, PermissionContext, PermissionRule

    rule = PermissionRule("add", None, Behavior.ALLOW, "agent")
    made.spec = replace(made.spec, permission_context=PermissionContext().with_rule(rule))
    return made


async def test_a_turn_calls_a_tool_and_tells_its_result() -> None:
    async with serving(
        events(call(0, id="c1", name="add", arguments='{"a": 2, "b": 3}'), delta("tool_calls")),
        events(delta(content="It is 5."), STOP),
    ) as server:
        reply = await allow_all(agent(server)).call([user_message("2+3?")], CONTEXT)
        sent = server.requests[1].body["messages"]
    assert reply.text == "It is 5."
    assert sent[-1] == {"role": "tool", "tool_call_id": "c1", "content": "5"}
    assert server.requests[0].body["tools"][0]["function"]["name"] == "add"


async def test_failures_before_the_first_piece_are_tried_again() -> None:
    busy = status(429, {"error": {"message": "busy"}}, retry_after_ms="20")
    fine = events(delta(content="fine"), STOP)
    async with serving(busy, status(500, "x"), fine) as server:
        reply = await agent(server).call([user_message("hi")], CONTEXT)
        assert (reply.text, len(server.requests)) == ("fine", 3)


async def test_what_would_help_nobody_is_not_tried_again() -> None:
    for script, words in (
        (status(401, {"error": {"message": "no"}}), "does not accept the key"),
        (status(429, {"error": {"message": "x"}}, retry_after="9999"), "answered 429"),
    ):
        async with serving(script) as server:
            with pytest.raises(ModelError, match=words):
                await agent(server).call([user_message("hi")], CONTEXT)
            assert len(server.requests) == 1


async def test_a_server_that_is_never_well_again_is_given_up() -> None:
    async with serving(status(503, "x")) as server:
        with pytest.raises(ModelError, match="503"):
            await agent(server).call([user_message("hi")], CONTEXT)
        assert len(server.requests) == 4


async def test_nothing_of_an_answer_that_broke_off_is_kept_or_asked_for_again() -> None:
    async with serving(events(delta(content="half an ans"), done=False)) as server:
        made = agent(server)
        with pytest.raises(ModelError, match="before its answer"):
            await made.call([user_message("hi")], CONTEXT)
        state = await made.get_agent_state(CONTEXT)
    assert [message.role for message in state.context] == ["USER"]
    assert len(server.requests) == 1


async def test_an_interrupt_ends_the_stream_and_keeps_what_was_said() -> None:
    spoken, closed = asyncio.Event(), asyncio.Event()

    async def slow(line: Line, _request: Request) -> None:
        await line.head()
        await line.chunk(sse(delta(content="half")))
        spoken.set()
        await line.gone()
        closed.set()

    async with serving(slow) as server:
        made = agent(server)
        task = asyncio.create_task(made.call([user_message("hi")], CONTEXT))
        await asyncio.wait_for(spoken.wait(), 5)
        assert await made.interrupt(CONTEXT)
        await asyncio.wait_for(closed.wait(), 5)
        await asyncio.wait_for(task, 5)
        state = await made.get_agent_state(CONTEXT)
    assert state.context[0].text == "hi"


def test_one_model_serves_event_loops_one_after_the_other() -> None:
    with serving_in_thread(events(delta(content="x"), STOP)) as server:
        asked = model(server.url)
        assert [text(asyncio.run(chunks(asked))) for _ in range(3)] == ["x", "x", "x"]


LOADED = """
import sys
from agentadmin.engine import HarnessAgent
import agentadmin.engine.agents.registry
from agentadmin.engine.models import registry
registry.create("offline:demo")
made = [registry.create(name + ":x") for name in ("openai", "anthropic")]
heavy = {"openai", "anthropic", "httpx2", "opentelemetry"} & set(sys.modules)
assert not heavy, heavy
for model in made:
    if model.name.startswith(sys.argv[1]):
        model.stream(None)
print(*sorted({"openai", "anthropic"} & set(sys.modules)))
"""


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_sdk_is_loaded_when_its_model_is_first_asked_for_and_never_the_other_one(
    provider: str,
) -> None:
    run = [sys.executable, "-c", LOADED, provider]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (provider, "")


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "https://me:pw@host/v1"}, "base_url"),
        ({"base_url": "https://host/v1?key=1"}, "base_url"),
        ({"base_url": "http://host:99999999"}, "base_url"),
        ({"api_key_env": "SECRET_KEY"}, "api_key_env"),
        ({"api_key_env": "sk-123"}, "api_key_env"),
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": 3}, "temperature"),
        ({"max_tokens": True}, "max_tokens"),
        ({"timeout": 0}, "timeout"),
        ({"headers": {"Authorization": "Bearer x"}}, "headers.Authorization"),
        ({"headers": {"x-a": "b\nc"}}, "headers.x-a"),
        ({"headers": {"a b": "c"}}, "headers"),
        ({"body": {"messages": []}}, "body.messages"),
        ({"body": []}, "body"),
        ({"key": "sk-1"}, "key"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_its_path(given: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ModelOptions.read(given)
    assert caught.value.path == path
    assert "Bearer" not in caught.value.detail


@pytest.mark.parametrize("name", ["openai:", "gpt-4", "offline:x", "", "nobody:x"])
def test_a_model_that_nobody_has_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        create(name)
    assert caught.value.path == "model"
