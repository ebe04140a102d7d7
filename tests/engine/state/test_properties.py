"""What holds for every state, text and call that can be thought of."""

# Here both outcomes are right, so that a refusal is looked at where it is caught.
# ruff: noqa: PT017

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.messages import Msg, ToolResultBlock
from agentadmin.engine.state import codec
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.calls import cancel_pending, open_calls
from agentadmin.engine.state.json_writer import COMPACT, write
from agentadmin.engine.state.mutations import apply, diff, effects
from agentadmin.engine.state.permissions import Behavior, configuration_warnings, decide
from agentadmin.engine.state.repair import repair
from agentadmin.engine.state.widening import narrowing, widening
from tests.engine.state import strategies as some

OPERATIONS = st.one_of(
    st.just({"op": "clear_context"}),
    st.builds(lambda text: {"op": "set_summary", "summary": text}, some.texts),
    st.builds(
        lambda mode: {"op": "set_permission_mode", "mode": mode},
        st.sampled_from(["default", "bypass", "EXPLORE", "yolo"]),
    ),
    st.builds(
        lambda op, rule: {**rule.to_dict(), "op": op},
        st.sampled_from(["add_rule", "remove_rule"]),
        some.rules,
    ),
    some.objects,
)

pytestmark = pytest.mark.filterwarnings("error")
thorough = settings(max_examples=120, deadline=None, derandomize=True)
# States take long to think of.
brief = settings(thorough, max_examples=40)


@thorough
@given(some.values)
def test_the_codec_gives_back_what_it_was_given(value: Any) -> None:
    text = codec.dumps(value)
    assert repr(codec.loads(text)) == repr(value)
    assert codec.dumps(codec.loads(text)) == text
    assert repr(codec.loads(codec.pretty(value))) == repr(value)


@thorough
@given(some.values)
def test_the_two_writers_of_the_codec_agree(value: Any) -> None:
    assert codec.dumps(value) == write(value, COMPACT)
    assert repr(json.loads(codec.dumps(value))) == repr(value)


@thorough
@given(st.text(st.characters(), max_size=60) | st.binary(max_size=60))
def test_any_text_is_read_or_refused_by_name(text: str | bytes) -> None:
    try:
        codec.loads(text)
    except AgentAdminError as error:
        assert error.detail


@brief
@given(some.states())
def test_a_state_survives_its_own_text(state: AgentState) -> None:
    assert AgentState.from_json(state.to_json()) == state
    assert (
        AgentState.from_parts(codec.loads(codec.dumps(state.substates())), state.context) == state
    )


@thorough
@given(some.objects | some.blocks())
def test_any_object_is_read_as_a_message_or_refused_with_its_path(raw: dict[str, Any]) -> None:
    for document in (raw, {"content": [raw]}, {**raw, "role": "USER"}):
        try:
            message = Msg.from_dict(document, "m")
        except AgentAdminError as error:
            assert str(error).startswith("m")
        else:
            assert message.to_dict() is document
            assert isinstance(message.text, str)


@brief
@given(some.states(), some.objects)
def test_a_broken_state_is_refused_by_name(state: AgentState, junk: dict[str, Any]) -> None:
    raw = state.to_dict()
    for field in raw:
        try:
            AgentState.from_dict({**raw, field: junk})
        except AgentAdminError as error:
            assert field in str(error)


@thorough
@given(
    some.permission_contexts,
    some.plans,
    some.tools,
    some.commands | some.values,
    some.moments,
    some.paths,
)
def test_a_decision_is_total_and_the_same_each_time(
    context: Any, plan: Any, tool: Any, command: Any, now: Any, paths: list[str]
) -> None:
    before = (codec.dumps(context.to_dict()), repr(command))
    first = decide(context, plan, tool, {"command": command}, now, paths)
    second = decide(context, plan, tool, {"command": command}, now, paths)
    assert first == second
    assert first.trace == second.trace
    assert first.behavior in (Behavior.ALLOW, Behavior.DENY, Behavior.ASK)
    assert len(first.trace) == 13
    assert before == (codec.dumps(context.to_dict()), repr(command))
    configuration_warnings(context, {tool.name: tool}, now)


@thorough
@given(some.permission_contexts, some.plans, some.tools, some.commands, some.moments, some.paths)
def test_more_deny_rules_never_allow_more(
    context: Any, plan: Any, tool: Any, command: str, now: Any, paths: list[str]
) -> None:
    strict = context.with_rule(some.PermissionRule(tool.name, None, Behavior.DENY, "property"))
    assert decide(strict, plan, tool, {"command": command}, now, paths).behavior == "deny"
    assert widening(context, strict) == []


@brief
@given(some.states(), OPERATIONS, some.moments)
def test_an_operation_never_touches_the_given_state(
    state: AgentState, operation: dict[str, Any], now: Any
) -> None:
    before = state.to_json()
    try:
        after = apply(state, operation, now=now)
    except AgentAdminError as error:
        assert error.code == "invalid_operation"
        after = state
    assert state.to_json() == before
    assert bool(diff(state, after)) == (state != after)
    effects(state, after)
    codec.dumps(diff(state, after))
    assert AgentState.from_json(after.to_json()) == after


@brief
@given(some.states(), some.moments)
def test_clearing_keeps_everything_else(state: AgentState, now: Any) -> None:
    after = apply(state, {"op": "clear_context"}, now=now)
    assert after.to_dict() == {**state.to_dict(), "context": [], "summary": ""}
    assert after.permission_context is state.permission_context
    assert after.tasks_context is state.tasks_context


@thorough
@given(some.permission_contexts, some.permission_contexts)
def test_widening_one_way_is_narrowing_the_other(left: Any, right: Any) -> None:
    assert len(widening(left, right)) == len(narrowing(right, left))


def placeholders(state: AgentState) -> int:
    results = [b for m in state.context for b in m.blocks(ToolResultBlock)]
    return sum(block.suspended for block in results)


@brief
@given(some.states())
def test_after_cancelling_no_call_is_open_and_nothing_is_lost(state: AgentState) -> None:
    before = state.to_json()
    cancelled = cancel_pending(state, "stopped")
    assert open_calls(cancelled) == []
    assert state.to_json() == before
    # A result takes the place of its call's placeholder, else a message of its own.
    more = len(cancelled.context) - len(state.context)
    assert 0 <= more <= len(open_calls(state))
    assert more == len(open_calls(state)) or placeholders(cancelled) < placeholders(state)


@brief
@given(some.states(), st.sets(st.sampled_from("abc")))
def test_repair_leaves_only_parked_and_uncertain_calls_and_is_done_at_once(
    state: AgentState, uncertain: set[str]
) -> None:
    before = state.to_json()
    mended, _ = repair(state, uncertain)
    again, repairs = repair(mended, uncertain)
    assert repairs == []
    assert again is mended
    assert state.to_json() == before
    left = open_calls(mended)
    parked = {call.message_index for call in left if call.state in ("asking", "submitted")}
    assert all(c.call_id in uncertain or c.message_index in parked for c in left)
