"""The commands print what a script needs, and one plain sentence where they refuse."""

import io
import json

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.db import connections

from agentadmin.access.management.commands import create_operator, create_token
from agentadmin.access.tokens import authenticate_token, scopes_of
from agentadmin.audit.management.commands import verify_audit
from agentadmin.audit.models import AuditEntry
from tests.access.conftest import PASSWORD, People

pytestmark = pytest.mark.django_db


def output(*args: str) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Run as from a shell: exit code, standard output, standard error."""
    monkeypatch.setattr(type(connections), "close_all", lambda self: None)
    modules = {
        "create_operator": create_operator,
        "create_token": create_token,
        "verify_audit": verify_audit,
    }

    def _run(name: str, *args: str) -> tuple[int, str, str]:
        code = 0
        try:
            modules[name].Command().run_from_argv(["manage.py", name, *args])
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return _run


def test_create_operator_prints_the_password_once() -> None:
    said = output("create_operator", "alice", "--role", "operator")
    password = said.rpartition(": ")[2].strip()
    assert authenticate(username="alice", password=password) is not None
    entry = AuditEntry.objects.get()
    assert entry.action == "users.create"
    assert password not in entry.header + str(entry.body)


def test_create_operator_takes_the_password_from_standard_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    said = output("create_operator", "bo", "--role", "viewer", "--password-stdin", "--json")
    assert json.loads(said) == {"name": "bo", "role": "viewer", "password": None}
    assert authenticate(username="bo", password=PASSWORD) is not None


def test_create_token_prints_the_token_alone(people: People) -> None:
    secret = output("create_token", "--user", "operator").removesuffix("\n")
    token = authenticate_token(secret).token
    assert "permissions:widen" in scopes_of(token)
    narrow = output("create_token", "--user", "operator", "--scopes", "sessions:read, export")
    assert scopes_of(authenticate_token(narrow.strip()).token) == {"sessions:read", "export"}


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (["create_operator", "operator", "--role", "viewer"], 1, "already"),
        (["create_operator", " ", "--role", "viewer"], 1, "name"),
        (["create_operator", "x", "--role", "king"], 2, "king"),
        (["create_operator", "x"], 2, "--role"),
        (["create_token", "--user", "nobody"], 1, "nobody"),
        (["create_token", "--user", "viewer", "--days", "91"], 1, "days"),
        (["create_token", "--user", "viewer", "--days", "x"], 2, "days"),
        (["create_token", "--user", "viewer", "--scopes", "fly"], 1, "fly"),
        (["create_token", "--user", "viewer", "--scopes", "sessions:erase"], 1, "sessions:erase"),
        (["verify_audit", "/nowhere/bundle.jsonl"], 2, "cannot be read"),
    ],
)
def test_a_refusal_is_one_sentence_on_standard_error(  # type: ignore[no-untyped-def]
    people: People, run, args: list[str], code: int, word: str
) -> None:
    ended, out, err = run(*args)
    assert (ended, out) == (code, "")
    assert word in err
    assert "Traceback" not in err
    if code == 1:
        assert err.count("\n") == 1


def test_verify_audit_says_whether_the_log_is_whole(people: People, run) -> None:  # type: ignore[no-untyped-def]
    assert run("verify_audit") == (0, "The audit log is intact: 4 entries.\n", "")
    AuditEntry.objects.filter(n=2).update(actor="mallory")
    code, out, err = run("verify_audit")
    assert (code, out) == (1, "")
    assert "chain system, entry 2" in err
    code, out, err = run("verify_audit", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["first_bad"]["n"] == 2


@pytest.mark.parametrize("name", ["create_operator", "create_token", "verify_audit"])
def test_help_shows_an_example(run, name: str) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run(name, "--help")
    assert code == 0
    assert "Example: manage.py" in out
