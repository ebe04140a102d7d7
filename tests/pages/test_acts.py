"""The one dialog: dry run first, reason, version, step-up, drafts kept, and what it leaves."""

import re
from html import unescape
from typing import Any

import pytest
from django.http import HttpResponse

from agentadmin.audit.models import AuditEntry
from runs_app.pages.stopping import STOP_REASONS
from sessions_app.models import AgentThread
from sessions_app.pages.act_dialog import MIN_REASON
from sessions_app.pages.acts import KINDS
from sessions_app.selectors.threads import state_at
from sessions_app.services.update_state import update_agent_state
from tests.pages.conftest import PASSWORD, SYSTEM, Talk, Visit, Visitor, html, text

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "Because the test says so"


def act(thread: AgentThread, op: str) -> str:
    return f"/threads/{thread.id}/act/{op}"


def hidden(page: HttpResponse) -> dict[str, Any]:
    """What the dialog sends along."""
    form = html(page).split('<dialog class="dialog', 1)[1].split("</dialog>")[0]
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in found if name != "csrfmiddlewaretoken"}


def confirm(who: Visitor, path: str, page: HttpResponse, **fields: Any) -> HttpResponse:
    return who.post(path, htmx=True, **(hidden(page) | {"reason": REASON} | fields))


def test_clearing_shows_what_leaves_and_stays_before_it_does_it(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    page = visit("operator").fragment(act(thread, "clear_context"))
    assert "2 messages leave the working context" in text(page)
    assert "the full history" in text(page)
    assert f"Based on version {thread.version}" in text(page)
    thread.refresh_from_db()
    assert thread.context_messages == 2
    done = confirm(visit("operator"), act(thread, "clear_context"), page)
    assert done.status_code == 200
    assert 'id="acts"' in html(done)
    assert f"Applied as version {thread.version + 1}" in text(done)
    assert not state_at(thread).state.context
    entry = AuditEntry.objects.get(action="state.update")
    assert (entry.reason, entry.actor) == (REASON, "operator")
    assert str(entry.id) in html(done)


def test_without_scripts_the_dialog_is_a_page_and_the_form_redirects(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    page = visit("operator").get(act(thread, "clear_context"))
    assert "<html" in html(page)
    done = visit("operator").post(
        act(thread, "clear_context"), **(hidden(page) | {"reason": REASON})
    )
    assert (done.status_code, done["Location"]) == (302, f"/threads/{thread.id}/conversation")
    assert "Applied as version" in text(visit("operator").get(done["Location"]))


@pytest.mark.parametrize("reason", ["", "short", "   \t      "])
def test_a_short_reason_is_refused_at_its_field(
    visit: Visit, thread: AgentThread, talk: Talk, reason: str
) -> None:
    talk(thread, "hello")
    page = visit("operator").fragment(act(thread, "clear_context"))
    again = confirm(visit("operator"), act(thread, "clear_context"), page, reason=reason)
    assert again.status_code == 422
    assert 'id="act-reason-error"' in html(again)
    assert len(state_at(thread).state.context) == 2


def test_nobody_confirms_what_was_not_shown(visit: Visit, thread: AgentThread) -> None:
    fields = {"behavior": "deny", "tool_name": "sleep", "rule_content": "", "lasts": ""}
    first = visit("operator").post(act(thread, "add_rule"), htmx=True, reason=REASON, **fields)
    assert "Adds the rule deny sleep" in text(first)
    other = fields | {"tool_name": "calculator"}
    again = confirm(visit("operator"), act(thread, "add_rule"), first, **other)
    assert "Adds the rule deny calculator" in text(again)
    thread.refresh_from_db()
    assert thread.version == 0
    done = confirm(visit("operator"), act(thread, "add_rule"), again, **other)
    assert "Applied as version 1" in text(done)
    assert "calculator" in state_at(thread).state.permission_context.deny_rules


def test_a_stale_version_keeps_the_draft_and_names_the_change(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    page = visit("operator").fragment(act(thread, "set_permission_mode"), mode="explore")
    update_agent_state(
        actor=SYSTEM,
        thread=thread,
        reason="meanwhile",
        operations=[{"op": "set_permission_mode", "mode": "dont_ask"}],
    )
    again = confirm(visit("operator"), act(thread, "set_permission_mode"), page)
    assert again.status_code == 409
    assert f"Version {thread.version} has moved to {thread.version + 1}" in text(again)
    assert "dont_ask" in text(again)
    assert REASON in html(again)
    done = confirm(visit("operator"), act(thread, "set_permission_mode"), again)
    assert done.status_code == 200
    assert state_at(thread).state.permission_context.mode == "explore"


def test_widening_asks_for_the_password_and_takes_it_in_the_dialog(
    visit: Visit, thread: AgentThread
) -> None:
    path = act(thread, "set_permission_mode")
    page = visit("operator").fragment(path, mode="bypass")
    assert "This widens what the agent may do" in text(page)
    assert 'id="act-password"' in html(page)
    without = confirm(visit("operator"), path, page)
    assert without.status_code == 403
    wrong = confirm(visit("operator"), path, page, password="wrong")
    assert wrong.status_code == 401
    assert 'id="act-password-error"' in html(wrong)
    assert "The password is wrong." in text(wrong)
    assert REASON in html(wrong)
    assert state_at(thread).state.permission_context.mode == "default"
    done = confirm(visit("operator"), path, page, password=PASSWORD)
    assert done.status_code == 200
    assert state_at(thread).state.permission_context.mode == "bypass"
    # The same session is fresh now: the next widening does not ask again.
    rule = visit("operator").post(
        act(thread, "add_rule"), htmx=True, behavior="allow", tool_name="execute"
    )
    assert 'id="act-password"' not in html(rule)


def test_a_rule_is_removed_by_its_own_key(visit: Visit, thread: AgentThread) -> None:
    rules = [
        {"op": "add_rule", "behavior": "ask", "tool_name": "t", "rule_content": c, "source": "s"}
        for c in ("a & b", "c")
    ]
    update_agent_state(actor=SYSTEM, thread=thread, reason="set up", operations=rules)
    page = html(visit("operator").get(f"/threads/{thread.id}/permissions"))
    links = re.findall(r'href="(/threads/[^"]+/act/remove_rule\?[^"]+)"', page)
    link = next(found for found in links if "a+%26+b" in found).replace("&amp;", "&")
    dialog = visit("operator").fragment(link)
    assert "Removes the rule ask t 'a & b'" in text(dialog)
    assert "This widens" in text(dialog)
    done = confirm(visit("operator"), act(thread, "remove_rule"), dialog, password=PASSWORD)
    assert done.status_code == 200
    left = state_at(thread).state.permission_context.ask_rules["t"]
    assert [rule.rule_content for rule in left] == ["c"]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"behavior": "deny", "tool_name": ""}, "rule-tool-error"),
        ({"behavior": "maybe", "tool_name": "t"}, "rule-behavior-error"),
        ({"behavior": "deny", "tool_name": "t" * 257}, "rule-tool-error"),
        ({"behavior": "deny", "tool_name": "t", "rule_content": "x" * 2001}, "rule-content-error"),
    ],
)
def test_a_wrong_rule_is_named_by_its_field(
    visit: Visit, thread: AgentThread, fields: dict[str, str], error: str
) -> None:
    page = visit("operator").post(act(thread, "add_rule"), htmx=True, reason=REASON, **fields)
    assert page.status_code == 422
    assert f'id="{error}"' in html(page)
    assert REASON in html(page)


def test_a_rule_that_is_not_there_is_said_in_the_dialog(visit: Visit, thread: AgentThread) -> None:
    page = visit("operator").fragment(
        act(thread, "remove_rule"), behavior="deny", tool_name="never", source="s"
    )
    assert page.status_code == 200
    assert "there is no rule" in text(page)


def test_an_open_question_forbids_clearing(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    talk(thread, '/tool create_order {"sku": "tea"}')
    page = visit("operator").fragment(act(thread, "clear_context"))
    assert "The thread waits for an answer" in text(page)


@pytest.mark.parametrize(("who", "status"), [("viewer", 403), ("stranger", 404)])
@pytest.mark.parametrize("op", ["clear_context", "set_permission_mode", "add_rule", "set_summary"])
def test_who_may_not_gets_neither_dialog_nor_act(
    visit: Visit, thread: AgentThread, who: str, status: int, op: str
) -> None:
    assert visit(who).fragment(act(thread, op)).status_code == status
    assert visit(who).post(act(thread, op), htmx=True, reason=REASON).status_code == status


def test_there_is_no_other_act(visit: Visit, thread: AgentThread) -> None:
    assert visit("operator").get(act(thread, "no_such_act")).status_code == 404


def test_every_suggested_reason_is_long_enough_to_be_taken() -> None:
    suggested = {*STOP_REASONS, *(reason for kind in KINDS.values() for reason in kind.reasons)}
    assert suggested
    assert [reason for reason in suggested if len(reason) < MIN_REASON] == []


def test_a_message_is_erased_at_the_first_press(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    message = state_at(talk(thread, "my secret")).state.context[0].id
    page = visit("operator").fragment(act(thread, "redact_message"), message_id=message)
    done = confirm(
        visit("operator"),
        act(thread, "redact_message"),
        page,
        message_id=message,
        replacement="[redacted]",
    )
    assert "Applied as version" in text(done)
    assert "my secret" not in state_at(thread).state.context[0].text


def test_fields_that_changed_after_the_dry_run_are_said(visit: Visit, thread: AgentThread) -> None:
    fields = {"behavior": "deny", "tool_name": "sleep", "rule_content": "", "lasts": ""}
    first = visit("operator").post(act(thread, "add_rule"), htmx=True, reason=REASON, **fields)
    assert "nothing was done yet" not in text(first)
    again = confirm(
        visit("operator"), act(thread, "add_rule"), first, **(fields | {"tool_name": "x"})
    )
    assert "The fields have changed; nothing was done yet." in text(again)
