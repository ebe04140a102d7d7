"""Every file of both AgentScopes comes in with the facts of its answer key, and goes out equal."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.journal.facts import ITEM_TYPES
from agentadmin.engine.state import codec
from runs_app.models import Interaction, Turn
from sessions_app.models import AgentSession, AgentThread, JournalFact, Payload
from sessions_app.selectors.exporting import export_thread
from sessions_app.selectors.sessions import session_threads
from sessions_app.selectors.threads import state_at
from sessions_app.services.importing import Import, import_state
from sessions_app.services.update_state import update_agent_state
from tests.sessions.people import OPERATOR

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data"
PYTHON = DATA / "agentscope-python"
JAVA = DATA / "agentscope-java"
KEY = json.loads((PYTHON / "expected_facts.json").read_text())
JAVA_STATES = sorted(
    path.name
    for path in (*JAVA.glob("agent_state_*.json"), *JAVA.glob("legacy_agent_state_*.json"))
)
PROBES = json.loads((JAVA / "decode_probes.json").read_text())
STATES = [probe for probe in PROBES if probe["kind"] != "AgentEvent"]
EVENTS = [probe for probe in PROBES if probe["kind"] == "AgentEvent"]
KEPT_RAW = {"lower role", "tool_use bad state"}
"""What Java refuses and we keep as it came (decision 1 of the specification)."""


@pytest.fixture(autouse=True)
def projected(settings: Any) -> None:
    """Questions and turns are rows of the recorder's."""
    settings.THREAD_JOURNAL = "runs_app.recorder.make_journal"


def bring(document: Any, **given: Any) -> AgentThread:
    wanted = Import(document=document, **given)
    return session_threads(import_state(actor=OPERATOR, wanted=wanted))[0]


@pytest.mark.parametrize("name", KEY)
def test_a_python_file_has_the_facts_of_its_answer_key(name: str) -> None:
    thread = bring((PYTHON / name).read_bytes())
    key, state = KEY[name], state_at(thread).state
    blocks = [block for message in state.context for block in message.content]
    assert len(state.context) == thread.context_messages == key["messages"]
    assert Counter(m.raw["role"] for m in state.context) == key["roles"]
    assert Counter(block.type for block in blocks) == key["blocks"]
    results = [b for b in blocks if b.type == "tool_result"]
    assert Counter(b.raw["state"] for b in results) == key["tool_result_states"]
    assert (state.cur_iter, state.reply_id) == (key["cur_iter"], key["reply_id"])
    assert str(state.permission_context.mode) == key["mode"]
    assert [task.subject for task in state.tasks_context.tasks] == [t[0] for t in key["tasks"]]
    assert bool(state.summary) != key["summary_empty"]


@pytest.mark.parametrize("name", KEY)
def test_each_message_is_one_fact_and_the_file_is_kept(name: str) -> None:
    text = (PYTHON / name).read_text()
    thread = bring(text)
    items = JournalFact.objects.filter(thread=thread, type__in=ITEM_TYPES)
    assert items.count() == KEY[name]["messages"]
    assert Payload.objects.filter(thread=thread, text=text).exists()


@pytest.mark.parametrize("name", KEY)
def test_what_a_file_waits_for_is_asked(name: str) -> None:
    thread = bring((PYTHON / name).read_bytes())
    kinds = {"awaiting_permission": "approval", "awaiting_external_result": "external"}
    waits = KEY[name]["awaiting_tool_calls"]
    asked = Interaction.objects.filter(thread=thread).order_by("seq")
    assert [i.call_id for i in asked] == [call["id"] for call in waits]
    expected = kinds.get(KEY[name]["status_when_not_running"])
    assert {i.kind for i in asked} == ({expected} if waits else set())
    assert Turn.objects.filter(thread=thread, state="waiting").count() == bool(waits)


@pytest.mark.parametrize("name", KEY)
def test_an_untouched_python_file_goes_out_to_the_byte(name: str) -> None:
    text = (PYTHON / name).read_text()
    export = export_thread(bring(text, session_id="mine", user_id="bob"), "agentscope-python")
    assert export.text == text
    assert codec.dumps(export.value) == codec.dumps(codec.loads(text))
    assert export.untouched
    assert not export.losses


@pytest.mark.parametrize("name", JAVA_STATES)
def test_an_untouched_java_file_goes_out_to_the_byte(name: str) -> None:
    text = (JAVA / name).read_text()
    export = export_thread(bring(text, permissions="agent"), "agentscope-java")
    assert export.text == text
    assert export.untouched


@pytest.mark.parametrize("name", KEY)
def test_the_parts_that_nobody_touched_go_out_as_they_came(name: str) -> None:
    value = json.loads((PYTHON / name).read_text())
    thread = bring((PYTHON / name).read_bytes())
    mode = {"op": "set_permission_mode", "mode": "explore"}
    update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=[mode])
    export = export_thread(thread, "agentscope-python")
    assert not export.untouched
    changed = {**value, "permission_context": {**value["permission_context"], "mode": "explore"}}
    assert codec.dumps(export.value) == codec.dumps(changed)


@pytest.mark.parametrize("name", KEY)
def test_a_python_file_goes_out_for_java_with_a_report(name: str) -> None:
    thread = bring((PYTHON / name).read_bytes())
    export = export_thread(thread, "agentscope-java")
    roles = {message["role"] for message in export.value["context"]}
    assert roles <= {"USER", "ASSISTANT", "SYSTEM", "TOOL"}
    assert all(loss.path and loss.why for loss in export.losses)
    assert bring(export.text, session_id="again").context_messages >= thread.context_messages


def _as_state(probe: dict[str, Any]) -> str:
    """A probe of a message or a block within the smallest state that holds it."""
    text = probe["input_json"]
    if probe["kind"] == "AgentState":
        return str(text)
    role = "ASSISTANT"
    message = text if probe["kind"] == "Msg" else f'{{"role": "{role}", "content": [{text}]}}'
    return f'{{"session_id": "s", "context": [{message}]}}'


@pytest.mark.parametrize("probe", STATES, ids=lambda probe: str(probe["label"]))
def test_odd_inputs_are_taken_as_java_takes_them(probe: dict[str, Any]) -> None:
    document = _as_state(probe)
    if probe["accepted"] or probe["label"] in KEPT_RAW:
        thread = bring(document, format="agentscope-java")
        assert export_thread(thread, "agentscope-java").text == document
        return
    with pytest.raises(InvalidInput) as refused:
        bring(document)
    assert refused.value.path
    assert not AgentSession.objects.exists()
    assert not Payload.objects.exists()


@pytest.mark.parametrize("probe", EVENTS, ids=lambda probe: str(probe["label"]))
def test_an_event_is_no_state(probe: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="event"):
        bring(probe["input_json"])
