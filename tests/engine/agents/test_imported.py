"""Sessions that AgentScope saved go on here, and go out again as it would have gone on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.agents.direct import confirm_message
from agentadmin.engine.messages import ToolResultBlock, tool_message
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.calls import open_calls
from agentadmin.engine.state.interop import Format, Source, parked_calls
from agentadmin.engine.stores.memory import InMemoryAgentStateStore
from agentadmin.engine.tools.toolkit import tool
from tests.engine.agents.scene import ScriptModel, context, plain, says
from tests.engine.agents.scene import calls as asks
from tests.engine.state import fixtures

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState


@tool(effect="none")
def write_note(path: str, text: str) -> str:
    """Write a note."""
    return f"{path}: {text}"


@tool(effect="none")
def delete_record(record_id: str) -> str:
    """Delete a record."""
    return f"gone: {record_id}"


@tool(effect="none")
def get_weather(city: str) -> str:
    """Tell the weather."""
    return f"{city}: fine"


class Going:
    """An imported session in a store, and an agent that takes it up."""

    def __init__(self, name: str) -> None:
        self.value = codec.loads(fixtures.python_text(name))
        self.store = InMemoryAgentStateStore()

    async def say(self, messages: Any, model: ScriptModel) -> AgentState:
        async with self._agent(model) as agent:
            await agent.call(messages, context())
            return await agent.get_agent_state(context())

    async def say_nothing(self) -> AgentState:
        """The state as it stands."""
        async with self._agent(ScriptModel()) as agent:
            return await agent.get_agent_state(context())

    def _agent(self, model: ScriptModel) -> Any:
        builder = plain(model).name("Lab").tools(write_note, delete_record, get_weather)
        return builder.state_store(self.store).build()

    async def begin(self) -> AgentState:
        async with self._agent(ScriptModel()) as agent:
            key = agent.thread_key(context())
        state = interop.read(self.value).with_identity("s", None)
        await self.store.save(None, "s", key.state_entry("agent_state"), state.to_dict())
        return state

    def written(self, state: AgentState) -> interop.Written:
        named = state.with_identity(self.value["session_id"], None)
        return interop.write(named, Format.PYTHON, source=Source(Format.PYTHON, self.value))


def confirm(state: AgentState) -> Any:
    """Yes to every question of a state."""
    asking = [each.call for each in parked_calls(state)]
    return confirm_message(
        {"confirmed": True, "toolCall": call.block.raw, "rules": None} for call in asking
    )


def parts(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


IDLE = [
    name
    for name, facts in fixtures.expected_facts().items()
    if facts["status_when_not_running"] == "idle"
]


@pytest.mark.parametrize("name", IDLE)
async def test_a_session_that_waits_for_nothing_takes_another_turn(name: str) -> None:
    going = Going(name)
    await going.begin()
    call = asks(("get_weather", '{"city": "Bern"}'))
    model = ScriptModel([*says("Looking."), *call], says("It is fine."))
    asked = going.written(await going.say("And in Bern?", model))
    assert parts(asked.value["context"][-1]) == ["text", "tool_call"]
    assert asked.value["reply_context"]["reply_id"] == asked.value["context"][-1]["id"]
    [parked] = parked_calls(interop.read(asked.value))
    assert parked.call.name == "get_weather"
    state = await going.say(confirm(await going.say_nothing()), model)
    written = going.written(state)
    reply = written.value["context"][-1]
    assert parts(reply) == ["text", "tool_call", "tool_result", "text"]
    assert [block.get("state") for block in reply["content"][1:3]] == ["finished", "success"]
    assert open_calls(interop.read(written.value)) == []
    count = len(going.value["context"])
    if name != "s17_orphan_tool_call_after_crash.json":  # its orphan is repaired
        assert codec.dumps(written.value["context"][:count]) == codec.dumps(going.value["context"])
    for kind in (Format.JAVA, Format.NATIVE):
        assert open_calls(interop.read(interop.write(state, kind).value, kind)) == []


async def test_answering_what_was_parked_continues_the_same_reply() -> None:
    going = Going("s03_parked_asking.json")
    state = await going.begin()
    model = ScriptModel(says("All done."))
    for _ in range(4):
        if not parked_calls(state):
            break
        state = await going.say(confirm(state), model)
    user, reply = going.written(state).value["context"]
    assert user == going.value["context"][0]
    assert reply["id"] == going.value["context"][1]["id"]
    assert parts(reply) == ["hint", "text", *["tool_call"] * 4, *["tool_result"] * 4, "text"]
    assert {block.get("state") for block in reply["content"][6:10]} == {"success"}


async def test_results_from_outside_continue_the_same_reply() -> None:
    going = Going("s11a_parked_external.json")
    state = await going.begin()
    answers = [
        tool_message(
            ToolResultBlock.make(id=each.call.call_id, name=each.call.name, output="found"),
            name="Lab",
        )
        for each in parked_calls(state)
    ]
    state = await going.say(answers, ScriptModel(says("Both found.")))
    reply = going.written(state).value["context"][-1]
    assert parts(reply)[-3:] == ["tool_result", "tool_result", "text"]
    assert reply["id"] == going.value["context"][-1]["id"]
