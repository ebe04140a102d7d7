"""importSession and exportSession as programs meet them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sessions_app.models import AgentSession, Payload
from tests.api.conftest import Caller, problem

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data"
FILES = {
    "agentscope-java": DATA / "agentscope-java" / "agent_state_full.json",
    "agentscope-python": DATA / "agentscope-python" / "s08_compacted.json",
}
MB = 1024 * 1024


def bring(caller: Caller, state: Any, **given: Any) -> dict[str, Any]:
    answer = caller.post("/sessions/import", {"state": state, **given})
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = json.loads(answer.content)
    return made


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("asked", ["auto", None])
def test_an_untouched_session_exports_its_file_by_value(
    operator: Caller, kind: str, asked: str | None
) -> None:
    state = json.loads(FILES[kind].read_text())
    made = bring(operator, state, format=asked or kind, session_id="mine", user_id="bob")
    assert (made["session_id"], made["user_id"]) == ("mine", "bob")
    answer = operator.get(f"/sessions/{made['id']}/export", format=kind)
    assert json.dumps(json.loads(answer.content)) == json.dumps(state)
    assert answer["Export-Losses"] == "0"


def test_our_own_export_comes_in_again(operator: Caller) -> None:
    state = json.loads(FILES["agentscope-python"].read_text())
    first = bring(operator, state)
    native = json.loads(operator.get(f"/sessions/{first['id']}/export").content)
    again = bring(operator, native, session_id="again")
    found = json.loads(operator.get(f"/sessions/{again['id']}/export").content)
    assert found == native


def test_the_losses_are_answered_on_request(operator: Caller) -> None:
    state = json.loads(FILES["agentscope-python"].read_text())
    made = bring(operator, state)
    path = f"/sessions/{made['id']}/export"
    asked = operator.get(path, format="agentscope-java", report="1")
    report = json.loads(asked.content)
    document = operator.get(path, format="agentscope-java")
    assert str(len(report["losses"])) == document["Export-Losses"] == asked["Export-Losses"]
    assert (report["format"], report["untouched"]) == ("agentscope-java", False)


def test_the_same_request_imports_once_and_another_body_is_refused(operator: Caller) -> None:
    wanted = {"state": {"session_id": "s"}, "request_id": "r"}
    first = operator.post("/sessions/import", wanted)
    again = operator.post("/sessions/import", wanted)
    assert (first.status_code, again.status_code) == (201, 201)
    assert json.loads(first.content)["id"] == json.loads(again.content)["id"]
    other = operator.post("/sessions/import", wanted | {"state": {"session_id": "t"}})
    assert problem(other)[:2] == (409, "idempotency_mismatch")
    assert AgentSession.objects.count() == 1


def test_a_body_of_33_megabytes_is_refused_in_a_sentence(operator: Caller) -> None:
    body = '{"state": {"session_id": "s", "summary": "%s"}}' % ("x" * 33 * MB)
    answer = operator.post("/sessions/import", body)
    assert problem(answer)[:2] == (413, "too_large")
    assert json.loads(answer.content)["detail"] == "A body may have at most 32 MB."
    assert not AgentSession.objects.exists()
    assert not Payload.objects.exists()


def test_a_state_of_25_megabytes_comes_in(operator: Caller) -> None:
    text = "Grüße, lorem ipsum dolor " * 400
    message = {"role": "USER", "content": [{"type": "text", "text": text}], "metadata": {}}
    context = [{**message, "id": f"m{n}"} for n in range(1750)]
    made = bring(operator, {"session_id": "big", "context": context})
    thread = json.loads(operator.get(f"/threads/{made['threads'][0]['id']}").content)
    assert thread["context"]["messages"] == 1750


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"state": {"session_id": "s", "context": [{"id"', 422),
        (b"PK\x03\x04 an archive", 422),
        (gzip.compress(b'{"state": {}}', mtime=0), 422),
        (b"", 422),
        (b"null", 422),
        (b'{"state": {"session_id": "s"}, "surprise": 1}', 422),
        (b'{"state": {"session_id": "a\\u0000b"}}', 422),
        (b'{"state": "text"}', 422),
        (b'{"state": {"object": "chat.completion"}}', 422),
        (b'{"state": {"session_id": "s"}, "format": "yaml"}', 422),
        (b'{"state": {"session_id": "s"}, "permissions": "all"}', 422),
    ],
)
def test_what_is_no_state_leaves_nothing_behind(operator: Caller, body: bytes, code: int) -> None:
    assert operator.post("/sessions/import", body).status_code == code
    assert not AgentSession.objects.exists()
    assert not Payload.objects.exists()


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "\\ud83d\\ude00", "\u202e"])
def test_odd_characters_go_in_and_out(operator: Caller, text: str) -> None:
    made = json.loads(
        operator.post(
            "/sessions/import", f'{{"state": {{"session_id": "s", "summary": "{text}"}}}}'
        ).content
    )
    state = json.loads(operator.get(f"/sessions/{made['id']}/export").content)
    assert state["summary"] == json.loads(f'"{text}"')
