"""The log as a file: a bundle that proves itself, and tables in which no cell is a formula."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.audit import later
from agentadmin.audit.bundle import verify_bundle
from agentadmin.audit.format import Outcome
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.clock import iso
from tests.audit.conftest import Write

pytestmark = pytest.mark.django_db
URL = "/api/v1/audit/export"
Get = Callable[..., Any]


@pytest.fixture
def get(db: None) -> Get:
    """Ask as an auditor of a namespace, agents, or everything."""

    def _get(path: str = URL, *, places: tuple[str, str] = ("*", "*"), **query: Any) -> Any:
        name = f"auditor {' '.join(places)}"
        user = User.objects.filter(username=name).first() or create_user(
            actor=Actor.system("tests"),
            name=name,
            password="correct horse",
            role="auditor",
            namespace=places[0],
            agent=places[1],
        )
        secret = create_token(actor=Actor.system("tests"), user=user).secret
        return Client(headers={"Authorization": f"Bearer {secret}"}).get(path, query)

    return _get


def content(answer: Any) -> bytes:
    async def read() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    assert answer.status_code == 200
    return async_to_sync(read)()


def rows(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(answer).decode())))


def test_a_csv_holds_what_the_list_holds_and_no_cell_is_a_formula(write: Write, get: Get) -> None:
    for reason in ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", 'a "quoted", line\nbreak', "擅长"):
        write(reason=reason)
    answer = get(action="sessions.clear")
    assert answer["Content-Disposition"] == 'attachment; filename="audit.csv"'
    found = rows(answer)
    assert [row["no"] for row in found] == ["1", "2", "3", "4", "5", "6", "7"]
    assert {row["chain"] for row in found} == {"default"}
    assert [row["reason"] for row in found][:5] == ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx"]
    assert found[5]["reason"] == 'a "quoted", line\nbreak'
    assert json.loads(found[6]["content"]) == {"before": {"messages": 37}, "after": {"messages": 0}}


def test_an_excel_file_holds_the_same_as_text(write: Write, get: Get) -> None:
    write(reason="=HYPERLINK(1)\ud800\x01")
    with zipfile.ZipFile(io.BytesIO(content(get(format="xlsx", action="sessions.clear")))) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "=HYPERLINK(1)" in sheet
    assert "<f>" not in sheet
    assert len(re.findall(r"<row ", sheet)) == 2


def test_json_lines_are_a_bundle_that_verifies(write: Write, get: Get) -> None:
    for number in range(5):
        write(target_id=f"s-{number}")
    lines = content(get(format="jsonl")).decode().splitlines()
    verdict = verify_bundle(lines)
    assert (verdict["ok"], verdict["checked"]) == (True, AuditEntry.objects.count())


def test_a_part_of_the_log_proves_itself_too(write: Write, get: Get) -> None:
    for number in range(6):
        write(target_id=f"s-{number}", outcome=Outcome.DENIED if number % 3 == 0 else "allowed")
    lines = content(get(format="jsonl", outcome="denied")).decode().splitlines()
    assert verify_bundle(lines) == {"ok": True, "checked": 2, "erased": 0, "first_bad": None}
    assert verify_bundle(lines[:2])["first_bad"]["n"] == 2
    assert verify_bundle([lines[0], lines[2]])["first_bad"] == {
        "chain": "default",
        "n": 4,
        "why": "the bundle does not have as many entries as its first line says",
    }
    assert verify_bundle([lines[0], lines[2], lines[1]])["first_bad"]["why"].startswith("entry 1")
    altered = lines[1].replace("runs in circles", "runs in squares")
    assert not verify_bundle([lines[0], altered, lines[2]])["ok"]
    other = lines[2].replace('"chain":"default"', '"chain":"other"')
    assert not verify_bundle([lines[0], lines[1], other])["ok"]


def test_a_reader_gets_only_what_is_within_the_place(write: Write, get: Get) -> None:
    write(namespace="team-a", agent_id="a")
    write(namespace="team-a", agent_id="b")
    write(namespace="team-b", agent_id="a")
    assert [row["chain"] for row in rows(get(places=("team-a", "*")))] == ["team-a", "team-a"]
    lines = content(get(places=("team-a", "b"), format="jsonl")).decode().splitlines()
    assert verify_bundle(lines)["checked"] == 1


def test_a_time_bounds_the_entries(write: Write, get: Get) -> None:
    first, second = write(target_id="a"), write(target_id="b")
    AuditEntry.objects.filter(pk=first.pk).delete()
    late = iso(second.at + timedelta(seconds=1))
    assert rows(get(since=late, target="b")) == []
    assert len(rows(get(since=iso(second.at), until=late, target="b"))) == 1
    assert get(since="yesterday").json()["path"] == "since"
    assert len(rows(get(since="0001-01-01T00:00:00", target="b"))) == 1


def test_what_cannot_be_is_refused_before_the_first_byte(get: Get) -> None:
    assert (get(format="pdf").status_code, get(format="pdf").json()["path"]) == (422, "format")
    assert get(outcome="maybe").json()["path"] == "outcome"


def test_an_export_is_audited_and_needs_its_permission(write: Write, get: Get) -> None:
    get(format="jsonl", actor="alice")
    later.flush()
    entry = AuditEntry.objects.filter(action="audit.export").get()
    assert json.loads(str(entry.body))["content"]["filters"] == {"actor": "alice"}
    user = create_user(
        actor=Actor.system("tests"), name="op", password="correct horse", role="operator"
    )
    secret = create_token(actor=Actor.system("tests"), user=user).secret
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    assert client.get(URL).json()["permission"] == "audit:export"


def test_one_entry_is_read_whole_and_a_foreign_one_is_not_found(write: Write, get: Get) -> None:
    entry = write(namespace="team-a")
    path = f"/api/v1/audit/{entry.pk}"
    body = get(path).json()
    assert (body["n"], body["chain"], body["hash"]) == (1, "team-a", entry.hash)
    assert body["content"]["before"] == {"messages": 37}
    assert get(path, places=("team-b", "*")).status_code == 404
    assert get("/api/v1/audit/no-uuid").status_code == 404
