"""`import_state` and `export_state` as a person at a terminal meets them."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError

from sessions_app.management.commands import import_state as import_command
from sessions_app.models import AgentSession
from tests.engine.state import fixtures

pytestmark = pytest.mark.django_db

JAVA = str(fixtures.JAVA / "agent_state_full.json")
OLDER = str(fixtures.JAVA / "legacy_agent_state_only_id.json")


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_each_file_gets_a_line() -> None:
    lines = run("import_state", JAVA, OLDER).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"{JAVA}: session ")
    assert lines[0].endswith("with 4 messages")
    assert AgentSession.objects.count() == 2


def test_machines_read_json() -> None:
    [line] = run("import_state", JAVA, "--json", "--user", "bob").splitlines()
    told = json.loads(line)
    assert (told["session_id"], told["messages"]) == ("s-001", 4)
    assert AgentSession.objects.get(id=told["session"]).user_id == "bob"


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    bad, err = tmp_path / "bad.json", io.StringIO()
    bad.write_text('{"session_id": "x", "context": [{"role": 5}]}')
    with pytest.raises(CommandError, match="2 of 3 files"):
        call_command("import_state", str(bad), "/nowhere", JAVA, stdout=io.StringIO(), stderr=err)
    assert f"{bad}: context[0].role: must be text" in err.getvalue()
    assert "/nowhere: No such file" in err.getvalue()
    assert AgentSession.objects.count() == 1


def test_what_came_in_goes_out_to_the_byte() -> None:
    run("import_state", JAVA)
    out = run("export_state", "s-001", "--format", "agentscope-java")
    assert out == fixtures.text("agent_state_full.json")
    [line] = run("export_state", "s-001", "--json").splitlines()
    assert json.loads(line)["schema_version"] == 1


@pytest.mark.parametrize("arguments", [("nobody",), ("s", "--thread", "x")])
def test_what_is_not_there_is_said(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="no such"):
        run("export_state", *arguments)


def test_a_name_that_several_sessions_have_is_refused() -> None:
    for user in ("a", "b"):
        run("import_state", JAVA, "--user", user)
    with pytest.raises(CommandError, match="UUID") as refused:
        run("export_state", "s-001")
    for session in AgentSession.objects.all():
        assert f"{session.id}  default/{session.user_id}" in str(refused.value)


def test_a_database_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise OperationalError("no such table: sessions_app_agentsession")

    monkeypatch.setattr(import_command, "import_state", fail)
    with pytest.raises(CommandError, match="AGENTADMIN_DATA") as refused:
        run("import_state", JAVA)
    assert str(settings.DATABASES["default"]["NAME"]) in str(refused.value)


def test_standard_input_is_a_file(monkeypatch: Any) -> None:
    text = io.TextIOWrapper(io.BytesIO(Path(JAVA).read_bytes()))
    monkeypatch.setattr("sys.stdin", text)
    assert run("import_state", "-").startswith("-: session ")
