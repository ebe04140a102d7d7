"""Imported conversations go on: parked calls are answered, orphans mended, new turns taken."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentadmin.access.actor import Actor
from agentadmin.engine.journal.facts import FactType
from runs_app.models import Interaction, Turn
from runs_app.selectors.interactions import open_interactions
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread, JournalFact
from sessions_app.selectors.exporting import export_thread
from sessions_app.selectors.sessions import session_threads
from sessions_app.selectors.threads import state_at
from sessions_app.services.importing import Import, import_state
from tests.runs.conftest import Work

pytestmark = pytest.mark.django_db(transaction=True)

DATA = Path(__file__).parent.parent / "data"
PLACEHOLDER = {
    "type": "tool_result",
    "id": "c1",
    "name": "crm_lookup",
    "output": [{"type": "text", "text": "[Awaiting external execution]"}],
    "metadata": {"agentscope_suspended": True},
    "state": "running",
}


def bring(actor: Actor, document: Any, **given: Any) -> AgentThread:
    text = document.read_bytes() if isinstance(document, Path) else json.dumps(document)
    session = import_state(actor=actor, wanted=Import(document=text, **given))
    return session_threads(session)[0]


def message(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"{role} {len(blocks)}", "name": "x", "role": role, "content": list(blocks)}


def call(name: str, state: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c1", "name": name, "input": arguments, "state": state}


def parked(state: str, name: str = "crm_lookup", **arguments: Any) -> dict[str, Any]:
    asked = {"type": "text", "text": "/echo look it up"}
    return {
        "session_id": "s",
        "context": [message("USER", asked), message("ASSISTANT", call(name, state, **arguments))],
    }


def respond(actor: Actor, asked: Interaction, decision: str, **given: Any) -> None:
    respond_interaction(
        actor=actor, interaction_id=asked.id, decision=decision, call_hash=asked.call_hash, **given
    )


def replies(thread: AgentThread) -> list[str]:
    return [m.text for m in state_at(thread).state.context if m.role == "ASSISTANT"]


def results(thread: AgentThread) -> list[tuple[str, str]]:
    found = []
    for each in state_at(thread).state.context:
        for block in each.content:
            if block.type == "tool_result":
                found.append((block.raw["id"], block.raw["state"]))
    return found


def test_a_submitted_call_waits_for_its_result_from_outside(actor: Actor, work: Work) -> None:
    thread = bring(actor, parked("submitted", customer="ACME"))
    [asked] = open_interactions(thread)
    assert (asked.kind, asked.tool, asked.message) == (
        "external",
        "crm_lookup",
        "The imported conversation waits for the result of this call.",
    )
    assert Turn.objects.get().wait_kind == "external"
    respond(actor, asked, "answer", answer={"output": "42 orders"})
    work(thread)
    turn = Turn.objects.get()
    assert (turn.state, turn.outcome) == ("completed", "done")
    assert results(thread) == [("c1", "success")]


def test_a_placeholder_of_java_waits_for_its_result_too(actor: Actor, work: Work) -> None:
    document = parked("pending")
    document["context"].append(message("TOOL", PLACEHOLDER))
    thread = bring(actor, document)
    [asked] = open_interactions(thread)
    assert asked.kind == "external"
    respond(actor, asked, "answer", answer="found")
    work(thread)
    assert Turn.objects.get().outcome == "done"
    assert results(thread) == [("c1", "success")]


def test_an_imported_question_is_asked_with_its_words_and_choices(actor: Actor, work: Work) -> None:
    thread = bring(actor, parked("submitted", "ask_user", question="Tea?", choices=["yes", "no"]))
    [asked] = open_interactions(thread)
    assert (asked.kind, asked.message, asked.choices) == ("question", "Tea?", '["yes","no"]')
    respond(actor, asked, "answer", answer="yes")
    work(thread)
    assert Turn.objects.get().outcome == "done"


def test_a_denied_result_from_outside_is_told_to_the_agent(actor: Actor, work: Work) -> None:
    thread = bring(actor, parked("submitted"))
    respond(actor, open_interactions(thread)[0], "deny", reason="not for this customer")
    work(thread)
    assert results(thread) == [("c1", "denied")]


def test_an_allowed_call_runs_and_the_reply_goes_on(actor: Actor, work: Work) -> None:
    thread = bring(actor, parked("asking", "calculator", expression="6*7"))
    respond(actor, open_interactions(thread)[0], "approve")
    work(thread)
    assert Turn.objects.get().outcome == "done"
    assert results(thread) == [("c1", "success")]


def test_an_orphan_is_mended_when_the_next_run_starts_and_that_is_said(
    actor: Actor, work: Work
) -> None:
    thread = bring(actor, parked("pending"))
    assert not open_interactions(thread)
    before = state_at(thread).state.context
    submit_turn(actor=actor, thread=thread, input="/count")
    work(thread)
    fact = JournalFact.objects.get(thread=thread, type=FactType.RECOVERY_APPLIED)
    assert "orphan_call" in (fact.payload or "")
    assert results(thread) == [("c1", "error")]
    assert replies(thread)[-1] == f"{len(before) + 2} messages"


def test_two_open_results_are_answered_one_after_the_other(actor: Actor, work: Work) -> None:
    document = parked("submitted")
    second = {**document["context"][1]["content"][0], "id": "c2"}
    document["context"][1]["content"].append(second)
    thread = bring(actor, document)
    first, last = open_interactions(thread)
    respond(actor, first, "answer", answer="one")
    work(thread)
    assert Turn.objects.get().state == "waiting"
    respond(actor, last, "answer", answer="two")
    work(thread)
    assert Turn.objects.get().outcome == "done"
    assert results(thread) == [("c1", "success"), ("c2", "success")]


FILES = sorted((DATA / "agentscope-python").glob("s*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_python_file_goes_on_with_a_turn(actor: Actor, work: Work, path: Path) -> None:
    thread = bring(actor, path)
    for asked in open_interactions(thread):
        decision = {"approval": "deny", "external": "answer"}[asked.kind]
        given = {"answer": "42"} if decision == "answer" else {"reason": "no"}
        respond(actor, asked, decision, **given)
    work(thread)
    for asked in open_interactions(thread):
        respond(actor, asked, "deny")
        work(thread)
    submit_turn(actor=actor, thread=thread, input="/echo it goes on")
    work(thread)
    assert replies(thread)[-1] == "it goes on"
    assert {turn.state for turn in Turn.objects.all()} == {"completed"}
    export = export_thread(thread, "agentscope-python")
    before = json.loads(path.read_text())["context"]
    assert len(export.value["context"]) >= len(before)
    assert export.value["context"][-1]["content"][-1]["text"] == "it goes on"
    assert {m["role"] for m in export.value["context"]} <= {"user", "assistant", "system"}


JAVA_FILES = sorted(
    path
    for pattern in ("agent_state_*.json", "legacy_agent_state_*.json", "legacy_memory_*.jsonl")
    for path in (DATA / "agentscope-java").glob(pattern)
)


@pytest.mark.parametrize("path", JAVA_FILES, ids=lambda path: path.stem)
def test_every_java_file_goes_on_with_a_turn(actor: Actor, work: Work, path: Path) -> None:
    thread = bring(actor, path)
    for asked in open_interactions(thread):
        respond(actor, asked, "deny", reason="no")
    work(thread)
    submit_turn(actor=actor, thread=thread, input="/echo it goes on")
    work(thread)
    assert replies(thread)[-1] == "it goes on"
    export = export_thread(thread, "agentscope-java")
    assert {m["role"] for m in export.value["context"]} <= {"USER", "ASSISTANT", "SYSTEM", "TOOL"}
    assert not export.untouched
    again = bring(actor, json.loads(export.text), session_id="again")
    assert len(state_at(again).state.context) == len(state_at(thread).state.context)
