"""What one may not do stays where it is, switched off, and names the permission that is missing."""

import re

import pytest

from runs_app.models import Interaction
from sessions_app.models import AgentThread
from tests.pages.conftest import Talk, Visit, address, html, text

pytestmark = pytest.mark.django_db(transaction=True)


def off(page: str) -> set[str]:
    """The labels of the controls that are off."""
    found = re.findall(r"<button[^>]+aria-disabled=\"true\"[^>]*>(.*?)</button>", page, re.DOTALL)
    plain = (re.sub(r"<svg.*?</svg>|<[^>]+>", "", each, flags=re.DOTALL) for each in found)
    return {" ".join(each.split()) for each in plain}


def test_the_state_tab_names_what_each_change_needs(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello", "again")
    page = html(visit("viewer").get(address(thread, "state")))
    assert {"Change…", "Compact…", "Clear…", "Patch…", "Export…"} <= off(page)
    assert "act/compact" not in page
    for needed in ("sessions:edit_summary", "sessions:clear", "sessions:patch", "export"):
        assert f"needs {needed}" in page
    past = html(visit("viewer").get(address(thread, "state"), version="1"))
    assert {"Restore…", "Fork…"} <= off(past)
    assert "Patch…" not in off(past)


def test_the_menu_and_the_list_name_it_too(visit: Visit, thread: AgentThread) -> None:
    menu = html(visit("viewer").get(address(thread)))
    wanted = {"Export… needs export", "Erase the session… needs sessions:erase"}
    assert wanted <= off(menu)
    listed = visit("viewer").get("/sessions")
    assert {"Import", "New session"} <= off(html(listed))
    assert "needs import" in text(listed)
    assert "Import" not in off(html(visit("operator").get("/sessions")))


def test_an_approver_reads_what_a_rule_would_need(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, '/tool create_order {"sku": "tea"}')
    page = html(visit("approver").get(f"/approvals/{Interaction.objects.get().id}"))
    assert "Allow and add rule…" in off(page)
    assert "needs permissions:edit" in page
    assert "Allow and add rule…" not in off(html(visit("operator").get(address(thread))))
