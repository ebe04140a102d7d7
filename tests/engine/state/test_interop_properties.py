"""What holds for every state that is written for another system and read again."""

# Here both outcomes are right, so that a refusal is looked at where it is caught.
# ruff: noqa: PT017

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.messages import user_message, wrap
from agentadmin.engine.messages.blocks import HintBlock, ToolResultBlock, ToolUseBlock
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.interop import Format, Loss, Source
from tests.engine.state import strategies as some

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

pytestmark = pytest.mark.filterwarnings("error")
brief = settings(max_examples=40, deadline=None, derandomize=True)
formats = st.sampled_from([Format.JAVA, Format.PYTHON])
INDEX = re.compile(r"\[\d+\]")


def written_again(state: AgentState, kind: Format) -> tuple[interop.Written, AgentState]:
    """A document, and the state that its text holds."""
    written = interop.write(state, kind)
    value = codec.loads(written.text())
    assert codec.dumps(value) == codec.dumps(written.value)
    return written, interop.read(value, kind)


def named(path: str, losses: tuple[Loss, ...]) -> bool:
    """Whether a loss speaks of the place, or of what it stands in."""
    plain = INDEX.sub("[]", path)
    places = [INDEX.sub("[]", loss.path) for loss in losses]
    return any(plain == place or plain.startswith((f"{place}.", f"{place}[")) for place in places)


def leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        return [leaf for k, v in value.items() for leaf in leaves(v, f"{path}.{k}" if path else k)]
    if isinstance(value, list) and value:
        return [leaf for i, v in enumerate(value) for leaf in leaves(v, f"{path}[{i}]")]
    return [(path, value)]


def said(state: AgentState) -> Counter[str]:
    """What the blocks of a context say, in whatever layout."""
    words: Counter[str] = Counter()
    for message in state.context:
        for block in message.content:
            words[codec.dumps(_said(block.raw))] += 1
    return words


def _said(raw: dict[str, Any]) -> Any:
    block = wrap(raw)
    match block:
        case ToolUseBlock():
            return ["call", block.id, block.name, block.input]
        case ToolResultBlock():
            return ["result", block.id, block.name, block.text]
        case HintBlock():
            return ["hint", block.hint]
        case _:
            return [block.type, raw.get("text"), raw.get("thinking")]


@brief
@given(some.states())
def test_a_native_document_holds_everything(state: AgentState) -> None:
    written, back = written_again(state, Format.NATIVE)
    assert back == state
    assert written.losses == ()
    assert interop.detect(written.value) is Format.NATIVE


@brief
@given(some.states(), formats)
def test_what_a_document_does_not_keep_is_named(state: AgentState, kind: Format) -> None:
    before = state.to_json()
    written, back = written_again(state, kind)
    assert interop.detect(written.value) is kind
    kept = dict(leaves(back.substates(), ""))
    for path, value in leaves(state.substates(), ""):
        if not (path in kept and codec.dumps(kept[path]) == codec.dumps(value)):
            places = (path, f"reply_context.{path}")  # where Python has the reply's ids
            told = any(named(place, written.losses) for place in places)
            assert told or value in ({}, [], None), path
    missing = said(state) - said(back)
    assert not missing or any(".content[" in loss.path for loss in written.losses), missing
    assert state.to_json() == before


@brief
@given(some.states(), formats)
def test_a_document_that_was_read_is_written_the_same(state: AgentState, kind: Format) -> None:
    written, back = written_again(state, kind)
    again = interop.write(back, kind)
    assert codec.dumps(again.value) == codec.dumps(written.value)
    assert {loss.kind for loss in again.losses} <= {"ignored"}


@brief
@given(some.states(), formats)
def test_an_untouched_document_goes_out_as_it_came(state: AgentState, kind: Format) -> None:
    written, back = written_again(state, kind)
    source = Source(kind, written.value)
    untouched = interop.write(back, kind, source=source)
    assert untouched.value is written.value
    assert untouched.losses == ()
    back.context_mutable().append(user_message("more"))
    continued = interop.write(back, kind, source=source).value
    assert list(continued) == list(written.value)
    assert codec.dumps(continued["context"][:-1]) == codec.dumps(written.value["context"])
    for name in written.value.keys() - {"context"}:
        assert codec.dumps(continued[name]) == codec.dumps(written.value[name])


@brief
@given(some.states(), st.dictionaries(some.texts, some.values, max_size=3), formats)
def test_any_document_is_read_or_refused_by_its_path(
    state: AgentState, junk: dict[str, Any], kind: Format
) -> None:
    document = interop.write(state, kind).value
    for broken in (junk, *({**document, name: junk} for name in document), [junk], list(junk)):
        try:
            interop.read(broken)
        except AgentAdminError as error:
            assert error.detail


@brief
@given(some.states())
def test_waiting_calls_and_odd_words_are_told_of_any_state(state: AgentState) -> None:
    for parked in interop.parked_calls(state):
        assert parked.call.state in ("asking", "submitted") or parked.kind == "external"
    for odd in interop.oddities(state):
        assert odd.path.startswith("context[")
