"""An imported conversation as people read it: own times, calls in order, faults in their place."""

import json
from pathlib import Path
from typing import Any

import pytest

from runs_app.models import Interaction
from runs_app.services.respond import respond_interaction
from sessions_app.models import AgentThread, JournalFact
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.importing import Import, import_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, text

pytestmark = pytest.mark.django_db

PYTHON = Path(__file__).parent.parent / "data" / "agentscope-python"


def bring(document: Any) -> AgentThread:
    data = document.read_bytes() if isinstance(document, Path) else json.dumps(document)
    return session_threads(import_state(actor=SYSTEM, wanted=Import(document=data)))[0]


def said(role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": f"{role}-{len(content)}", "role": role, "content": list(content), **more}


def words(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def test_messages_show_the_times_of_their_file(visit: Visit) -> None:
    page = visit("operator").get(address(bring(PYTHON / "s01_text_two_turns.json")))
    first = json.loads((PYTHON / "s01_text_two_turns.json").read_text())["context"][0]
    assert f'title="{first["created_at"]}, as the file has it; it names no zone"' in html(page)
    assert "4 messages with the file’s own times. Imported from agentscope-python" in text(page)


def test_a_message_without_a_time_shows_none(visit: Visit) -> None:
    thread = bring({"session_id": "s", "context": [said("USER", words("hello"))]})
    assert "no time" in text(visit("operator").get(address(thread)))


def test_a_reply_reads_in_the_order_in_which_it_was_written(visit: Visit) -> None:
    call = {"type": "tool_call", "id": "c1", "name": "lookup", "input": "{}", "state": "finished"}
    result = {"type": "tool_result", "id": "c1", "name": "lookup", "output": "found it"}
    reply = said("assistant", words("first"), call, {**result, "state": "success"}, words("last"))
    thread = bring({"session_id": "s", "context": [reply], "reply_context": {}})
    page = visit("operator").get(address(thread))
    places = [text(page).index(word) for word in ("first", "lookup", "found it", "last")]
    assert places == sorted(places)
    assert "shown as it is" not in text(page)


def test_a_denied_imported_call_takes_its_result_in_where_it_stands(
    visit: Visit, talk: Talk
) -> None:
    thread = bring(PYTHON / "s03_parked_asking.json")
    asked = Interaction.objects.get(thread=thread)
    before = thread.head_seq
    respond_interaction(
        actor=SYSTEM, interaction_id=asked.id, decision="deny", call_hash=asked.call_hash
    )
    talk(thread)
    news = visit("operator").fragment(address(thread), after_seq=before)
    assert "Permission denied by user" in text(news)
    assert "shown as it is" not in text(news)


def test_a_row_that_cannot_be_decoded_hides_no_other(visit: Visit) -> None:
    context = [{**said("USER", words(f"message {n}")), "id": f"m{n}"} for n in range(4)]
    thread = bring({"session_id": "s", "context": context})
    rows = JournalFact.objects.filter(thread=thread)
    rows.filter(seq=3).update(payload='{"item":"m1","message":{"id":"m1","content":[5]}}')
    rows.filter(seq=4).update(payload='{"item":"m2","mess')
    olga = visit("operator")
    page = olga.get(address(thread))
    assert page.status_code == 200
    assert "message 0" in text(page)
    assert "message 3" in text(page)
    assert "could not be decoded (field message.content[0])" in text(page)
    assert "could not be decoded (field payload)" in text(page)
    raw = olga.get(f"/threads/{thread.id}/facts/4/raw")
    assert raw.status_code == 200
    assert '{"item":"m2","mess' in html(raw)
    assert olga.get("/sessions").status_code == 200
    assert olga.get(f"/api/v1/threads/{thread.id}/transcript").status_code == 200
    assert olga.get(f"/api/v1/threads/{thread.id}/facts").status_code == 200


def test_a_fact_about_a_call_that_cannot_be_decoded_is_named(visit: Visit) -> None:
    thread = bring(PYTHON / "s03_parked_asking.json")
    asked = JournalFact.objects.filter(thread=thread, type="interaction/requested")
    asked.update(payload="[")
    page = visit("operator").get(address(thread))
    assert "A fact of type interaction/requested could not be decoded (field payload)" in text(page)


def test_an_approval_that_could_only_fail_says_so(visit: Visit) -> None:
    state = json.loads((PYTHON / "s03_parked_asking.json").read_text())
    session = import_state(actor=SYSTEM, wanted=Import(document=json.dumps(state), agent_id="demo"))
    thread = session_threads(session)[0]
    asked = Interaction.objects.get(thread=thread)
    warning = f"demo has no tool {asked.tool}: if you allow the call, it fails"
    assert "This agent has no such tool." in text(visit("operator").get(address(thread)))
    assert warning in text(visit("operator").get(f"/approvals/{asked.id}"))
    assert warning in text(visit("operator").fragment(f"/approvals/{asked.id}/allow-once"))
    Interaction.objects.filter(id=asked.id).update(tool="calculator")
    assert "no such tool" not in text(visit("operator").get(address(thread)))
