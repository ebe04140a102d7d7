"""Invariants of design §9 that the loop owes: sound requests, pure decisions, no effect twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentadmin.engine.clock import now
from agentadmin.engine.errors import Fenced, TurnFinished
from agentadmin.engine.journal.loading import load
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import (
    Msg,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    tool_message,
    user_message,
)
from agentadmin.engine.models.base import Chunk, ToolCallChunk
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
    ToolFacts,
    decide,
)
from agentadmin.engine.tools.toolkit import tool
from tests.engine.agents.scene import (
    BYPASS,
    Host,
    ScriptModel,
    calls,
    context,
    facts_of,
    harness,
    says,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.agents.admission import Admission, RunResult
    from agentadmin.engine.journal.base import Batch, Committed, ThreadRef


def check_request(messages: Sequence[Msg]) -> None:
    """Calls and results pair up, ids are unique, nothing pending or asking is included."""
    open_: set[str] = set()
    seen: set[str] = set()
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                assert block.id not in seen
                seen.add(block.id)
                open_.add(block.id)
            elif isinstance(block, ToolResultBlock):
                assert block.id in open_
                assert block.state != "running"
                open_.remove(block.id)
    assert not open_


# --- Requests from any context --------------------------------------------------------------------

ids = st.sampled_from(["c1", "c2", "c3"])
call_blocks = st.builds(
    lambda id, name, state, content: ToolUseBlock.make(
        id=id, name=name, state=state, content=content
    ),
    ids,
    st.sampled_from(["calculator", "create_order", "gone"]),
    st.sampled_from(["pending", "asking", "allowed", "submitted", "finished"]),
    st.sampled_from([None, "{}", '{"cut']),
)
assistants = st.builds(
    lambda blocks, text: assistant_message([*blocks, *text], name="Assistant"),
    st.lists(call_blocks, max_size=2, unique_by=lambda b: b.id),
    st.sampled_from([[], [TextBlock.make("words")]]),
)
tool_results = st.builds(
    lambda id, state: tool_message(
        ToolResultBlock.make(id=id, name="calculator", output="r", state=state), name="Assistant"
    ),
    ids,
    st.sampled_from(["success", "error", "interrupted", "denied"]),
)
contexts = st.lists(
    st.one_of(st.builds(user_message, st.just("hi")), assistants, tool_results), max_size=8
)


@settings(max_examples=150, deadline=None)
@given(contexts)
def test_every_request_is_sound_whatever_was_imported(messages: list[Msg]) -> None:
    async def scenario() -> None:
        model = ScriptModel(says("one"), says("two"))
        journal = InMemoryThreadJournal()
        async with harness(journal, model).build() as agent:
            await agent.update_agent_state(
                context(), "import", lambda state: state.set_context(messages)
            )
            reply = await agent.call("go on", context(), on_pending="cancel")
            assert reply.text == "one"
            check_request(model.requests[0].messages)
            assert "go on" in [m.text for m in model.requests[0].messages]
            state = await agent.get_agent_state(context())
        ref = await journal.find(agent.thread_key(context()))
        assert ref is not None
        assert (await load(journal, ref)).state() == state

    asyncio.run(scenario())


# --- Crashes --------------------------------------------------------------------------------------


class DyingJournal(InMemoryThreadJournal):
    """Loses the worker at one commit: before it was made, or after it and before it was told."""

    def __init__(self, dies_at: int, *, told: bool) -> None:
        super().__init__()
        self.left = dies_at
        self.told = told

    async def commit(self, ref: ThreadRef, batch: Batch, rows: Any = ()) -> Committed:
        if batch.lease is None:
            return await super().commit(ref, batch, rows)
        self.left -= 1
        if self.left == 0:
            if not self.told:
                await super().commit(ref, batch, rows)
            raise Fenced()
        return await super().commit(ref, batch, rows)


class Effects:
    """Counts how often each call had its effect."""

    def __init__(self) -> None:
        self.done: dict[str, int] = {}

    def tools(self) -> list[Any]:
        def make(effect: str) -> Any:
            async def work(mark: str) -> str:
                key = f"{effect}:{mark}"
                self.done[key] = self.done.get(key, 0) + 1
                return "done"

            return tool(effect=effect, name=f"{effect}_tool")(work)

        return [make(effect) for effect in ("none", "idempotent", "external")]


steps = st.lists(
    st.lists(st.sampled_from(["none", "idempotent", "external"]), min_size=1, max_size=3),
    max_size=2,
)


def script(plan: Sequence[Sequence[str]]) -> ScriptModel:
    """A model that decides by what it sees, so that a second worker goes on where one died."""
    model = ScriptModel()

    def answer(request: Any) -> list[Chunk]:
        rounds = sum(1 for m in request.messages if m.blocks(ToolUseBlock))
        if rounds >= len(plan):
            return says("finished")
        return [
            ToolCallChunk(str(i), f"r{rounds}c{i}", f"{effect}_tool", f'{{"mark": "{rounds}.{i}"}}')
            for i, effect in enumerate(plan[rounds])
        ]

    async def stream(request: Any) -> Any:
        model.requests.append(request)
        for chunk in answer(request):
            yield chunk

    model.stream = stream  # type: ignore[method-assign]
    return model


async def until_settled(host: Host, admission: Admission) -> RunResult:
    """Take over until the turn has ended or waits; a lost run's id is known from its lease."""
    lost: str | None = None
    for attempt in range(1, 6):
        kind: Any = "new" if attempt == 1 else "takeover"
        execution, lease = await host.prepare(
            replace(admission, kind=kind, attempt=attempt, lost_run=lost)
        )
        try:
            return await execution.run()
        except Fenced:
            lost = execution.run_id
        finally:
            assert execution.log.writer is not None
            await host.journal.release(execution.log.writer.ref, lease)
    raise AssertionError("the turn never settled")


@settings(max_examples=120, deadline=None)
@given(steps, st.integers(1, 9), st.booleans())
def test_after_any_crash_a_turn_ends_once_or_waits_and_no_outside_effect_is_doubled(
    plan: list[list[str]], dies_at: int, told: bool
) -> None:
    async def scenario() -> None:
        journal, effects = DyingJournal(dies_at, told=told), Effects()
        model = script(plan)
        builder = harness(journal, model).tools(*effects.tools()).permission_context(BYPASS)
        async with builder.build() as agent:
            host = Host(journal, agent)
            admission = await host.submit("go")
            ends = await _settle(host, admission)
            facts = await facts_of(journal, agent)
        terminal = [f for f in facts if f.type in {"turn/completed", "turn/failed"}]
        assert len(terminal) == 1
        assert ends in {"completed", "waiting"}
        assert all(n == 1 for mark, n in effects.done.items() if mark.startswith("external"))
        for request in model.requests:
            check_request(request.messages)

    asyncio.run(scenario())


async def _settle(host: Host, admission: Admission) -> str:
    try:
        result = await until_settled(host, admission)
    except TurnFinished:
        return "completed"
    if result.turn_state == "waiting":
        return await _answer(host, admission, result)
    return result.turn_state


async def _answer(host: Host, admission: Admission, result: RunResult) -> str:
    """A person looks what became of the calls, and the turn goes on."""
    from agentadmin.engine.agents.reconcile import reconcile_outcomes

    assert result.wait is not None
    assert result.wait["kind"] == "reconcile"
    writer, lease = await host.claim()
    await reconcile_outcomes(
        writer, dict.fromkeys(result.wait["ids"], "seen"), "looked", name="Assistant"
    )
    await host.journal.release(writer.ref, lease)
    done = await host.run(replace(admission, kind="resume", attempt=9))
    assert done.outcome == "done"
    return "waiting"


# --- Decisions ------------------------------------------------------------------------------------

rules = st.builds(
    PermissionRule,
    st.sampled_from(["calculator", "write_file"]),
    st.sampled_from([None, "a*", "secret.txt"]),
    st.sampled_from([Behavior.ALLOW, Behavior.DENY, Behavior.ASK]),
    st.just("session"),
)
inputs = st.sampled_from(
    [
        ("calculator", {"expression": "1"}),
        ("write_file", {"path": "a.txt", "text": "x"}),
        ("write_file", {"path": "secret.txt", "text": "x"}),
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(list(PermissionMode)), st.lists(rules, max_size=3), inputs)
def test_the_loop_decides_exactly_as_the_pure_function_does(
    mode: PermissionMode, given_rules: list[PermissionRule], call: tuple[str, dict[str, str]]
) -> None:
    permissions = PermissionContext(mode=mode)
    for rule in given_rules:
        permissions = permissions.with_rule(rule)

    async def scenario() -> None:
        from agentadmin.engine.state import codec

        journal = InMemoryThreadJournal()
        model = ScriptModel(calls((call[0], codec.dumps(call[1]))), says("ok"))
        builder = harness(journal, model).permission_context(permissions)
        with TemporaryDirectory() as folder:
            agent = builder.workspace(folder).build()
            await agent.call("go", context())
            facts = await facts_of(journal, agent)
            known = agent.spec.toolkit.get(call[0])
            assert known is not None
            workspace = agent.spec.workspace_of(agent.thread_key(context()))
            expected = decide(
                permissions,
                AgentState.new("s").plan_mode_context,
                known.facts(call[1], workspace),
                call[1],
                now(),
                known.paths(call[1], workspace),
            )
        decided = next(f.payload for f in facts if f.type == "tool/decision")
        assert (decided["behavior"], decided["because"]) == (expected.behavior, expected.because)
        assert any(f.type == "tool/dispatch" for f in facts) == (
            expected.behavior is Behavior.ALLOW
        )

    asyncio.run(scenario())


def test_facts_about_a_tool_are_read_only_when_it_has_no_effect() -> None:
    harmless = tool(effect="none", name="look")(lambda: "x")
    assert harmless.facts({}, None) == ToolFacts(name="look", read_only=True)
