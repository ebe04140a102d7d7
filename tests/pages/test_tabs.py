"""State, Permissions, Runs and Audit of a thread; the page of a run; the audit log."""

import re

import pytest

from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry
from runs_app.models import Run
from sessions_app.models import AgentThread
from sessions_app.services.update_state import update_agent_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, new_thread, text

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_state_is_readable_and_raw(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    talk(thread, "hello")
    page = text(visit("viewer").get(address(thread, "state")))
    assert f"Version {thread.version}" in page
    assert "2 messages" in page
    assert "digest" in page
    assert "permission_context" in page
    part = visit("viewer").get(address(thread, "state"), pointer="/context/0/content")
    assert "hello" in text(part)
    raw = visit("viewer").get(address(thread, "state/raw"), pointer="/context/0/role")
    assert (raw["Content-Type"], raw.content) == ("text/plain; charset=utf-8", b'"USER"')


def test_an_earlier_version_is_shown_as_it_was(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    first = visit("viewer").get(address(thread, "state"), version="1")
    assert "1 message" in text(first)
    assert "Newest version" in text(first)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"version": "99"}, 404),
        ({"version": "x"}, 422),
        ({"version": "-1"}, 422),
        ({"pointer": "context"}, 422),
        ({"pointer": "/nothing"}, 404),
        ({"pointer": "/context/99999999999999"}, 404),
    ],
)
def test_a_wrong_version_or_pointer_is_refused(
    visit: Visit, thread: AgentThread, talk: Talk, query: dict[str, str], status: int
) -> None:
    talk(thread, "hello")
    assert visit("viewer").get(address(thread, "state"), **query).status_code == status


@pytest.mark.parametrize("seq", ["0", "99", str(2**63)])
def test_a_fact_that_never_was_is_not_found(
    visit: Visit, thread: AgentThread, talk: Talk, seq: str
) -> None:
    talk(thread, "hello")
    assert visit("viewer").get(address(thread, "facts/1/raw")).status_code == 200
    assert visit("viewer").get(address(thread, f"facts/{seq}/raw")).status_code == 404


def test_the_thirteen_steps_stand_in_order_with_their_rules(
    visit: Visit, thread: AgentThread
) -> None:
    rules = [
        {"op": "add_rule", "behavior": b, "tool_name": b, "rule_content": None, "source": "s"}
        for b in ("deny", "ask")
    ]
    update_agent_state(actor=SYSTEM, thread=thread, reason="set up", operations=rules)
    page = html(visit("operator").get(address(thread, "permissions")))
    numbers = re.findall(r'<span class="step">(\d+)</span>', page)
    assert numbers == [str(n) for n in range(1, 14)]
    assert page.index("Deny rules") < page.index("Ask rules") < page.index("Allow rules")
    assert "remove_rule" in page


def test_a_viewer_sees_the_rules_and_what_changing_needs(visit: Visit, thread: AgentThread) -> None:
    page = visit("viewer").get(address(thread, "permissions"))
    assert "changing needs permissions:edit" in text(page)
    assert "data-dialog" not in html(page).split('id="tab-body"')[1].split("</main>")[0]


def test_turns_and_their_runs_are_listed(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    talk(thread, "hello", "/fail permanent")
    page = text(visit("viewer").get(address(thread, "runs")))
    assert "hello" in page
    assert "Failed" in page
    assert page.index("/fail permanent") < page.index("hello")


def test_a_run_shows_timeline_events_and_numbers(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, '/tool calculator {"expression": "6 * 7"}')
    run = Run.objects.get()
    page = visit("viewer").get(f"/runs/{run.id}")
    assert page.status_code == 200
    for words in ("Completed", "2 steps, 1 tool", "run/start", "tool/dispatch", "calculator"):
        assert words in text(page), words
    assert f'data-run="{run.id}"' in html(page)
    assert re.search(r'<rect class="b-tool" x="[\d.]+%" width="[\d.]+%"', html(page))
    pieces = html(visit("viewer").fragment(f"/runs/{run.id}", after_seq="1"))
    assert 'id="run-head"' in pieces
    assert "<html" not in pieces


def test_a_failed_run_says_its_first_error_on_top(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "/fail permanent")
    page = text(visit("viewer").get(f"/runs/{Run.objects.get().id}"))
    assert page.index("First error, attempt 1") < page.index("Timeline")


def test_older_events_of_a_long_run_are_one_page_back(
    visit: Visit, thread: AgentThread, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs_app.selectors.steps.PAGE", 4)
    talk(thread, '/tool calculator {"expression": "6 * 7"}')
    path = f"/runs/{Run.objects.get().id}"
    newest = html(visit("viewer").get(path))
    before = re.search(r'href="\?show=all&amp;before=(\d+)#events"', newest)
    assert before
    older = html(visit("viewer").get(path, before=before[1]))
    shown = [re.findall(r'<span class="seq">(\d+)</span>', page) for page in (older, newest)]
    assert len(shown[0]) == len(shown[1]) == 4
    assert int(shown[0][-1]) < int(shown[1][0])


def test_stored_events_are_filtered_by_what_they_are_about(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, '/tool calculator {"expression": "6 * 7"}')
    path = f"/runs/{Run.objects.get().id}"
    kinds = re.findall(r'data-type="([^"]+)"', html(visit("viewer").get(path, show="tools")))
    assert kinds == ["tool/decision", "tool/dispatch", "tool/result"]
    assert visit("viewer").get(path, show='"><x').status_code == 200


@pytest.mark.parametrize("run_id", ["nothing", "a/b", "..%2f", "\u202e", "x" * 300])
def test_an_unknown_run_is_not_found(visit: Visit, run_id: str) -> None:
    assert visit("viewer").get(f"/runs/{run_id}").status_code == 404


def test_a_stranger_does_not_find_a_run(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    talk(thread, "hello")
    assert visit("stranger").get(f"/runs/{Run.objects.get().id}").status_code == 404


def test_the_audit_tab_is_about_this_session_only(visit: Visit, thread: AgentThread) -> None:
    other = new_thread()
    for one, name in ((thread, "mine"), (other, "other")):
        operations = [{"op": "set_summary", "summary": name}]
        update_agent_state(actor=SYSTEM, thread=one, reason=f"{name}!", operations=operations)
    page = text(visit("operator").get(address(thread, "audit")))
    assert "mine!" in page
    assert "other!" not in page
    refused = text(visit("viewer").get(address(thread, "audit")))
    assert "needs the permission audit:read" in refused


def test_the_log_is_filtered_and_an_entry_shows_its_change(
    visit: Visit, thread: AgentThread
) -> None:
    operations = [{"op": "set_permission_mode", "mode": "explore"}]
    update_agent_state(actor=SYSTEM, thread=thread, reason="tighten", operations=operations)
    page = visit("auditor").get("/audit", action="state.update", outcome="allowed")
    assert "tighten" in text(page)
    assert "sessions.create" not in text(page)
    entry = AuditEntry.objects.get(action="state.update")
    shown = text(visit("auditor").get(f"/audit/{entry.id}"))
    for words in ("/permission/mode", "default", "explore", "tighten", entry.hash[:8]):
        assert words in shown, words
    assert "No entry fits" in text(visit("auditor").get("/audit", q="nowhere"))


def test_a_refusal_is_an_entry_that_the_log_shows(visit: Visit, thread: AgentThread) -> None:
    visit("viewer").post(f"/threads/{thread.id}/act/clear_context", reason="x" * 12)
    later.flush()
    page = text(visit("operator").get("/audit", outcome="denied"))
    assert "Denied" in page
    assert "viewer" in page


def test_verifying_shows_the_result_in_place(visit: Visit, thread: AgentThread) -> None:
    good = visit("auditor").post("/audit/verify", htmx=True)
    assert "Chain verified" in text(good)
    assert "<html" not in html(good)
    assert "Chain verified" in text(visit("auditor").post("/audit/verify"))
    AuditEntry.objects.filter(action="sessions.create").update(actor="somebody else")
    bad = text(visit("auditor").post("/audit/verify", htmx=True))
    assert "is broken at entry" in bad


@pytest.mark.parametrize(
    ("who", "path"), [("viewer", "/audit"), ("viewer", "/audit/verify"), ("approver", "/audit")]
)
def test_the_log_is_for_those_who_may_read_it(visit: Visit, who: str, path: str) -> None:
    send = visit(who).post if path.endswith("verify") else visit(who).get
    assert send(path).status_code == 403


@pytest.mark.parametrize("query", [{"outcome": "maybe"}, {"cursor": "x"}])
def test_a_malformed_audit_filter_is_refused(visit: Visit, query: dict[str, str]) -> None:
    assert visit("auditor").get("/audit", **query).status_code in {400, 422}
