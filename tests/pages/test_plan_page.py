"""The Plan & tasks tab, its acts, and those on directories, messages and the raw document."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.access.services import create_user
from sessions_app.journal.configured import agent_spec
from sessions_app.journal.rows import thread_ref
from sessions_app.pages.acts import KINDS
from sessions_app.selectors.threads import state_at
from sessions_app.services.update_state import update_agent_state
from tests.pages.conftest import PASSWORD, SYSTEM, Talk, Visit, Visitor, html, text

if TYPE_CHECKING:
    from django.http import HttpResponse

    from sessions_app.models import AgentThread

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "Because the test says so"
TODOS = [
    {"content": "read", "status": "completed"},
    {"content": "write <b>", "status": "in_progress", "priority": "high"},
    {"content": "send"},
]


def act(thread: AgentThread, op: str) -> str:
    return f"/threads/{thread.id}/act/{op}"


def change(thread: AgentThread, *operations: Any) -> None:
    update_agent_state(actor=SYSTEM, thread=thread, reason="set up", operations=list(operations))
    thread.refresh_from_db()


def hidden(page: HttpResponse) -> dict[str, Any]:
    form = html(page).split('<dialog class="dialog', 1)[1].split("</dialog>")[0]
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in found if name != "csrfmiddlewaretoken"}


def confirm(who: Visitor, path: str, page: HttpResponse, /, **fields: Any) -> HttpResponse:
    done = who.post(path, htmx=True, **(hidden(page) | {"reason": REASON} | fields))
    assert done.status_code == 200, text(done)
    return done


def rehearse(who: Visitor, path: str, /, **fields: Any) -> HttpResponse:
    """A dialog with fields: what is typed is first shown as what it would do."""
    return who.post(path, htmx=True, **fields)


def test_an_untouched_thread_says_what_is_missing(visit: Visit, thread: AgentThread) -> None:
    page = visit("operator").get(f"/threads/{thread.id}/plan")
    assert page.status_code == 200
    for told in ("Plan mode Off", "no to-dos", "none was begun", "Requirements", "Tool groups"):
        assert told in text(page)
    assert 'aria-current="page">Plan &amp; tasks' in html(page)


def test_the_tab_shows_plan_todos_task_and_requirements(visit: Visit, thread: AgentThread) -> None:
    begin = {"op": "begin_task", "objective": "ship it", "requirements": [{"text": "it runs"}]}
    subject = {"op": "set_subject_version", "subject_version": "sha-1"}
    change(thread, {"op": "enter_plan_mode"}, {"op": "set_todos", "todos": TODOS}, begin, subject)
    spec = agent_spec("demo")
    folder = spec.workspace_of(thread_ref(thread).key) if spec else None
    assert folder is not None
    (folder / "plans").mkdir(parents=True)
    (folder / "plans/PLAN.md").write_text("# First\n\n<script>alert(1)</script> read")
    page = visit("operator").get(f"/threads/{thread.id}/plan")
    told = text(page)
    for words in ("Plan mode On", "plans/PLAN.md", "2 open, revision 3", "In progress write <b>"):
        assert words in told
    for words in ("priority high", "ship it", "Candidate", "it runs", "sha-1", "Leave plan mode"):
        assert words in told
    assert "<h1>First</h1>" in html(page) or "First" in told
    assert "<script>alert" not in html(page)


def test_a_viewer_sees_all_and_may_change_nothing(visit: Visit, thread: AgentThread) -> None:
    change(
        thread, {"op": "set_todos", "todos": TODOS}, {"op": "add_working_directory", "path": "/x"}
    )
    for tab in ("plan", "permissions", "state", "conversation"):
        page = visit("viewer").get(f"/threads/{thread.id}/{tab}")
        assert "/act/" not in html(page), tab
    assert "changing needs sessions:edit" in text(visit("viewer").get(f"/threads/{thread.id}/plan"))
    assert visit("viewer").get(act(thread, "set_todos")).status_code == 403
    assert visit("stranger").get(f"/threads/{thread.id}/plan").status_code == 404


def test_plan_mode_is_entered_and_left(visit: Visit, thread: AgentThread) -> None:
    for op, told in (("enter_plan_mode", "Plan mode begins"), ("exit_plan_mode", "Plan mode ends")):
        page = visit("operator").fragment(act(thread, op))
        assert told in text(page)
        confirm(visit("operator"), act(thread, op), page)
        active = state_at(thread).state.plan_mode_context.plan_active
        assert active is (op == "enter_plan_mode")


def test_todos_are_changed_as_lines_of_text(visit: Visit, thread: AgentThread) -> None:
    change(thread, {"op": "set_todos", "todos": TODOS})
    before = state_at(thread).state.tasks_context.tasks
    page = visit("operator").fragment(act(thread, "set_todos"))
    lines = "[x] read\n[~] write &lt;b&gt; (priority: high)\n[ ] send"
    assert lines in html(page)
    typed = "[x] read\n- [X] write <b>\n\n plain\n[~] last (priority: low)"
    shown = rehearse(visit("operator"), act(thread, "set_todos"), todos=typed)
    assert "The task list has 4 tasks instead of 3." in text(shown)
    confirm(visit("operator"), act(thread, "set_todos"), shown, todos=typed)
    tasks = state_at(thread).state.tasks_context.tasks
    assert [(t.subject, t.state.value) for t in tasks] == [
        ("read", "completed"),
        ("write <b>", "completed"),
        ("plain", "pending"),
        ("last", "in_progress"),
    ]
    assert (tasks[0].id, tasks[3].metadata) == (before[0].id, {"priority": "low"})


def test_what_is_wrong_with_todos_is_said_and_kept(visit: Visit, thread: AgentThread) -> None:
    shown = rehearse(visit("operator"), act(thread, "set_todos"), todos="[~] a\n[~] b")
    assert "at most one task may be in_progress" in text(shown)
    assert "[~] a" in html(shown)


def test_a_task_is_begun_and_its_requirement_decided(visit: Visit, thread: AgentThread) -> None:
    fields = {"objective": "ship", "requirements": "it runs\n\nit is <fast>", "task_id": ""}
    shown = rehearse(visit("operator"), act(thread, "begin_task"), **fields)
    confirm(visit("operator"), act(thread, "begin_task"), shown, **fields)
    page = html(visit("operator").get(f"/threads/{thread.id}/plan"))
    link = unescape(re.findall(r'href="([^"]+decide_requirement[^"]+confirm)"', page)[0])
    dialog = visit("operator").fragment(link)
    assert "Confirm a requirement" in text(dialog)
    confirm(visit("operator"), act(thread, "decide_requirement"), dialog)
    first, second = state_at(thread).state.tasks_context.extra["requirements"]
    assert (first["status"], first["decided_by"]) == ("confirmed", "operator")
    assert (second["status"], second["text"]) == ("candidate", "it is <fast>")


def test_an_empty_choice_of_groups_is_a_choice(visit: Visit, thread: AgentThread) -> None:
    gone = {"op": "add", "path": "/tool_context/activated_groups/-", "value": "of old"}
    change(thread, {"op": "json_patch", "patch": [gone]})
    page = html(visit("operator").get(f"/threads/{thread.id}/plan"))
    link = unescape(re.findall(r'href="([^"]+activate_tool_groups[^"]+)"', page)[0])
    dialog = visit("operator").fragment(link)
    assert "The tools of of old are no longer offered." in text(dialog)
    confirm(visit("operator"), act(thread, "activate_tool_groups"), dialog)
    assert state_at(thread).state.tool_context.activated_groups == ()


def test_a_directory_is_added_with_proof_and_removed_without(
    visit: Visit, thread: AgentThread
) -> None:
    operator = visit("operator")
    path = act(thread, "add_working_directory")
    shown = rehearse(operator, path, path="/srv/<site>")
    assert "This widens what the agent may do." in text(shown)
    refused = operator.post(
        path, htmx=True, **(hidden(shown) | {"reason": REASON, "path": "/srv/<site>"})
    )
    if refused.status_code == 403:
        confirm(operator, path, shown, path="/srv/<site>", password=PASSWORD)
    page = operator.get(f"/threads/{thread.id}/permissions")
    assert "/srv/<site>" in text(page)
    link = unescape(re.findall(r'href="([^"]+remove_working_directory[^"]+)"', html(page))[0])
    dialog = operator.fragment(link)
    confirm(operator, act(thread, "remove_working_directory"), dialog)
    assert not state_at(thread).state.permission_context.working_directories


def test_compacting_shows_what_leaves_and_asks_the_model_once_confirmed(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "one", "two")
    dialog = visit("operator").fragment(act(thread, "compact"))
    assert "2 messages leave the working context" in text(dialog)
    assert "offline:demo writes the summary" in text(dialog)
    confirm(visit("operator"), act(thread, "compact"), dialog)
    state = state_at(thread).state
    assert (state.summary, len(state.context)) == ("Summary of 2 messages.", 2)


def test_a_message_is_redacted_from_the_conversation(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "my number is 4111")
    operator = visit("operator")
    page = html(operator.get(f"/threads/{thread.id}/conversation"))
    link = unescape(re.findall(r'href="([^"]+redact_message[^"]+)"', page)[0])
    dialog = operator.fragment(link)
    assert "Nobody can bring it back." in text(dialog)
    fields = {"message_id": link.split("message_id=")[1], "replacement": "[number]"}
    again = rehearse(operator, act(thread, "redact_message"), **fields)
    confirm(operator, act(thread, "redact_message"), again, **fields)
    shown = text(operator.get(f"/threads/{thread.id}/conversation"))
    assert "[number]" in shown
    assert "redacted: what it said was erased" in shown
    runs = text(operator.get(f"/threads/{thread.id}/runs"))
    assert "my number is" not in shown.replace("You said: my number is 4111", "") + runs


def test_an_admin_patches_the_raw_document_after_seeing_what_changes(
    visit: Visit, thread: AgentThread
) -> None:
    create_user(actor=SYSTEM, name="ada", password=PASSWORD, role="admin", namespace="*")
    assert visit("operator").get(act(thread, "json_patch")).status_code == 403
    admin = Visitor(create_user(actor=SYSTEM, name="eve", password=PASSWORD, role="admin"))
    path = act(thread, "json_patch")
    for wrong, told in (
        ("[{", "line 1"),
        ('[{"op":"remove","path":"/nope"}]', "nothing stands at /nope"),
        ('[{"op":"replace","path":"/permission_context/mode","value":"x"}]', "no state"),
    ):
        shown = rehearse(admin, path, patch=wrong)
        assert told in text(shown)
        assert wrong in unescape(html(shown))
    patch = '[{"op":"add","path":"/note","value":{"a":"<b>"}}]'
    shown = rehearse(admin, path, patch=patch)
    assert "Changes /extra/note" in text(shown)
    confirm(admin, path, shown, patch=patch)
    assert state_at(thread).state.extra == {"note": {"a": "<b>"}}


def test_every_act_has_a_page_without_scripts(visit: Visit, thread: AgentThread) -> None:
    admin = Visitor(create_user(actor=SYSTEM, name="eve", password=PASSWORD, role="admin"))
    for op in KINDS:
        page = admin.get(act(thread, op))
        assert page.status_code == 200, op
        assert "<html" in html(page)


def test_a_plan_that_cannot_be_read_says_where(visit: Visit, thread: AgentThread) -> None:
    odd = {"op": "add", "path": "/tasks_context/requirements", "value": ["odd"]}
    change(thread, {"op": "json_patch", "patch": [odd]})
    page = visit("operator").get(f"/threads/{thread.id}/plan")
    assert page.status_code == 200
    assert "tasks_context.requirements[0]" in text(page)
