"""Export of what was continued, forked in format, or has an odd name; and its report of losses."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentadmin.engine.errors import InvalidInput
from sessions_app.models import AgentThread, Payload
from sessions_app.selectors.exporting import export_report, export_thread
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.importing import Import, import_state
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import make_thread, say
from tests.sessions.people import OPERATOR

pytestmark = pytest.mark.django_db

PYTHON = Path(__file__).parent.parent / "data" / "agentscope-python"
CUT_OFF = "s05a_interrupted_mid_tool.json"


def bring(document: Any, **given: Any) -> AgentThread:
    text = document.read_text() if isinstance(document, Path) else json.dumps(document)
    return session_threads(import_state(actor=OPERATOR, wanted=Import(document=text, **given)))[0]


def test_a_session_that_began_here_is_exported_in_all_three_formats() -> None:
    thread = make_thread()
    say(thread, "one", "two")
    native = export_thread(thread, "native")
    assert native.value["schema_version"] == 1
    assert not native.losses
    java = export_thread(thread, "agentscope-java").value
    assert [m["role"] for m in java["context"]] == ["USER", "ASSISTANT"]
    python = export_thread(thread, "agentscope-python").value
    assert [m["role"] for m in python["context"]] == ["user", "assistant"]
    assert python["reply_context"]["reply_id"]


def test_what_a_format_cannot_hold_is_reported_with_its_place() -> None:
    thread = make_thread(user_id="alice")
    operations = [{"op": "enter_plan_mode"}]
    update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=operations)
    export = export_thread(thread, "agentscope-python")
    paths = {loss.path for loss in export.losses}
    assert any(path.startswith("plan_mode_context") for path in paths)
    report = export_report(export)
    assert report["format"] == "agentscope-python"
    assert report["untouched"] is False
    assert {loss["path"] for loss in report["losses"]} == paths
    assert all(loss["kind"] and loss["why"] for loss in report["losses"])


def test_a_changed_session_keeps_what_its_format_alone_has() -> None:
    thread = bring(PYTHON / CUT_OFF)
    operation = {"op": "set_permission_mode", "mode": "explore"}
    update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=[operation])
    given = json.loads((PYTHON / CUT_OFF).read_text())
    export = export_thread(thread, "agentscope-python")
    assert export.version == 2
    assert export.value["context"] == given["context"]
    assert export.value["reply_context"] == given["reply_context"]


def test_an_erased_document_is_not_missed() -> None:
    thread = bring({"session_id": "s", "context": []})
    Payload.objects.filter(thread=thread).update(salt=None, text=None)
    export = export_thread(thread, "agentscope-java")
    assert not export.untouched
    assert export.value["session_id"] == "s"


def test_what_1x_kept_goes_out_as_a_state() -> None:
    line = {"id": "m", "role": "USER", "content": [{"type": "text", "text": "hi"}]}
    thread = bring([line])
    export = export_thread(thread, "agentscope-java")
    assert export.value["context"] == [line]
    assert not export.untouched


@pytest.mark.parametrize(
    ("session_id", "name"),
    [
        ("s-001", "s-001.native.json"),
        ("../../etc/passwd", "etc-passwd.native.json"),
        ("a b\tc", "a-b-c.native.json"),
        ("会话", "会话.native.json"),
        ("///", "state.native.json"),
        ("x" * 200, f"{'x' * 80}.native.json"),
    ],
)
def test_a_file_is_named_after_its_session(session_id: str, name: str) -> None:
    thread = bring({"session_id": "s"}, session_id=session_id.replace("\t", " "))
    assert export_thread(thread).file_name == name


def test_a_thread_beside_the_main_one_is_named_too() -> None:
    thread = bring({"session_id": "s", "thread_id": "deps"})
    assert export_thread(thread, "agentscope-java").file_name == "s.deps.agentscope-java.json"


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be auto or one of"):
        export_thread(make_thread(), "yaml")
