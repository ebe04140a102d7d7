"""One row that nobody can read hides none of the others, on no page and in no list."""

import json
from pathlib import Path
from typing import Any

import pytest

from runs_app.models import Interaction, Run, Turn
from sessions_app.models import AgentSession, AgentThread, StateSnapshot
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.importing import Import, import_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, new_thread, text

pytestmark = pytest.mark.django_db

PYTHON = Path(__file__).parent.parent / "data" / "agentscope-python"
TABS = ("conversation", "state", "permissions", "plan", "runs", "history", "audit")
LISTS = ("/sessions", "/approvals", "/turns", "/audit", "/jobs")
APIS = ("/sessions", "/interactions?status=pending", "/runs")

type Broken = tuple[AgentThread, AgentThread]


def bring(name: str) -> AgentThread:
    wanted = Import(document=(PYTHON / name).read_bytes())
    return session_threads(import_state(actor=SYSTEM, wanted=wanted))[0]


@pytest.fixture
def broken(talk: Talk) -> Broken:
    """A thread whose rows say nothing that can be read, and a run of another one."""
    thread, ran = bring("s03_parked_asking.json"), talk(new_thread(), "/echo hi")
    mine: dict[str, Any] = {"thread": thread}
    Interaction.objects.filter(**mine).update(input="{", suggested_rules="[", choices="{")
    Turn.objects.filter(**mine).update(wait_ids="[", state="odd", outcome="odd", wait_kind="odd")
    AgentSession.objects.filter(id=thread.session_id).update(status="odd")
    AgentThread.objects.filter(id=thread.id).update(status="odd")
    StateSnapshot.objects.filter(**mine).update(substate="{")
    Run.objects.filter(thread=ran).update(agent="{", status="odd")
    Turn.objects.filter(thread=ran).update(error="{")
    return thread, ran


def test_every_list_and_tab_opens(visit: Visit, broken: Broken) -> None:
    olga = visit("operator")
    tabs = [address(thread, tab) for thread in broken for tab in TABS]
    paths = [*LISTS, *tabs, *(f"/api/v1{path}" for path in APIS)]
    assert {path: olga.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)


def test_another_approval_is_shown_beside_the_broken_one(visit: Visit, broken: Broken) -> None:
    bring("s11a_parked_external.json")
    page = text(visit("operator").get("/approvals"))
    assert "crm_lookup" in page
    assert "write_note" in page


def test_a_state_that_cannot_be_decoded_is_our_fault(visit: Visit, broken: Broken) -> None:
    answer = visit("operator").get(f"/api/v1/threads/{broken[0].id}/state")
    assert answer.status_code == 500
    assert json.loads(answer.content)["code"] == "state_unreadable"
