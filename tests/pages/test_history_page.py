"""The History tab: versions, two beside each other, and what may be done with one."""

from typing import Any

import pytest
from django.http import HttpResponse

from agentadmin.engine.identity import new_id
from runs_app.models import DemoOrder, Interaction, Run
from runs_app.services.respond import respond_interaction
from sessions_app.models import AgentSession, AgentThread, JournalFact, StateSnapshot
from sessions_app.selectors.threads import state_at
from sessions_app.services.update_state import update_agent_state
from tests.pages.conftest import SYSTEM, Talk, Visit, Visitor, address, html, new_thread, text
from tests.pages.test_acts import REASON, act, confirm, hidden

pytestmark = pytest.mark.django_db(transaction=True)

CLEAR = {"op": "clear_context"}
ALLOW = {"op": "add_rule", "behavior": "allow", "tool_name": "execute", "source": "session"}
HOSTILE = "<script>alert(1)</script> \u202eabc & 'x'"


def update(thread: AgentThread, *operations: dict[str, Any], reason: str = "a good reason") -> None:
    update_agent_state(actor=SYSTEM, thread=thread, reason=reason, operations=list(operations))
    thread.refresh_from_db()


def compare(thread: AgentThread, before: int, after: int) -> str:
    return address(thread, f"compare/{before}..{after}")


@pytest.fixture
def edited(thread: AgentThread, talk: Talk) -> AgentThread:
    """A conversation that was cleared, then allowed more."""
    talk(thread, "hello")
    update(thread, CLEAR, reason="wrong task")
    update(thread, ALLOW)
    return thread


def test_every_version_is_listed_with_who_when_why_and_what(
    visit: Visit, edited: AgentThread
) -> None:
    page = visit("viewer").get(address(edited, "history"))
    assert page.status_code == 200
    shown = text(page)
    assert "Permissions changed" in shown
    assert "widened" in shown
    assert "Working context cleared" in shown
    assert "“wrong task”" in shown
    assert "Turn completed" in shown
    newest = edited.version
    assert f'aria-label="Version {newest}"' in html(page)
    assert f"Version {newest - 1} compared with {newest}" in shown
    assert Run.objects.get().id[-4:] in shown


def test_a_thread_without_a_version_says_why(visit: Visit, thread: AgentThread) -> None:
    shown = text(visit("viewer").get(address(thread, "history")))
    assert "No version yet" in shown
    assert "Compare" not in shown


def test_two_versions_are_compared_in_words_and_lines(visit: Visit, edited: AgentThread) -> None:
    newest = edited.version
    shown = text(visit("viewer").get(compare(edited, newest - 2, newest)))
    assert "Permissions widened: adds the rule allow execute" in shown
    assert "2 messages leave the working context" in shown
    assert "removed: USER hello" in shown
    assert "added: allow execute" in shown
    assert "Unchanged: summary, tasks, plan, tools" in shown


def test_the_first_version_is_compared_with_nothing(visit: Visit, edited: AgentThread) -> None:
    page = visit("viewer").get(compare(edited, 0, 1))
    assert "nothing was there before" in text(page)
    assert page.status_code == 200


def test_equal_versions_say_so(visit: Visit, edited: AgentThread) -> None:
    assert "Nothing differs" in text(visit("viewer").get(compare(edited, 2, 2)))


def test_large_states_are_compared_only_when_asked_for(
    visit: Visit, edited: AgentThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    AgentThread.objects.filter(id=edited.id).update(context_tokens=2)
    monkeypatch.setattr("sessions_app.views.history.LARGE", 1)
    page = visit("viewer").get(address(edited, "history"))
    assert "This state is large" in text(page)
    assert "Working context cleared" in text(page)
    asked = visit("viewer").get(compare(edited, 1, 2))
    assert "Version 1 compared with 2" in text(asked)


def test_the_choice_leads_to_the_comparison(visit: Visit, edited: AgentThread) -> None:
    pick = address(edited, "compare")
    newest = edited.version
    for query, pair in (
        ({"a": 1, "b": 2}, (1, 2)),
        ({"a": 2}, (2, newest)),
        ({"b": 2}, (1, 2)),
        ({}, (newest - 1, newest)),
    ):
        assert visit("viewer").get(pick, **query)["Location"] == compare(edited, *pair)
    assert visit("viewer").get(pick, a="x").status_code == 422


def test_what_is_chosen_stays_chosen_on_another_page_of_the_list(
    visit: Visit, thread: AgentThread
) -> None:
    for number in range(30):
        update(thread, {"op": "set_summary", "summary": str(number)})
    first = visit("viewer").get(address(thread, "history"))
    assert 'aria-label="Version 6"' in html(first)
    assert 'aria-label="Version 5"' not in html(first)
    older = visit("viewer").get(compare(thread, 29, 30), cursor="6")
    assert "A is version 29, on another page" in text(older)
    assert 'name="a" value="29" checked' in html(older)
    assert 'aria-label="Version 5"' in html(older)


@pytest.mark.parametrize("pair", [(1, 99), (99, 1)])
def test_a_version_that_is_not_there_is_404(
    visit: Visit, edited: AgentThread, pair: tuple[int, int]
) -> None:
    assert visit("viewer").get(compare(edited, *pair)).status_code == 404


def test_a_stranger_finds_no_history(visit: Visit, edited: AgentThread) -> None:
    for path in ("history", "compare/1..2", "compare", "fork"):
        assert visit("stranger").get(address(edited, path)).status_code == 404


def test_hostile_text_stays_text(visit: Visit, thread: AgentThread) -> None:
    update(thread, {"op": "set_summary", "summary": HOSTILE}, reason=HOSTILE)
    update(thread, {**ALLOW, "tool_name": HOSTILE, "rule_content": HOSTILE})
    page = html(visit("viewer").get(address(thread, "history")))
    page += html(visit("viewer").get(compare(thread, 0, 2)))
    assert "<script>alert(1)" not in page
    assert "\u202e" not in page


def test_names_of_fields_are_shown_exactly(visit: Visit, thread: AgentThread) -> None:
    name = HOSTILE.replace("/", "") + "\ud801"
    step = {"op": "add", "path": f"/{name}", "value": name}
    update(thread, {"op": "json_patch", "patch": [step]})
    page = visit("viewer").get(compare(thread, 0, 1))
    assert page.status_code == 200
    assert "U+D801" in html(page)
    assert "<script>alert(1)" not in html(page)


def test_a_version_that_cannot_be_read_hides_no_other(visit: Visit, edited: AgentThread) -> None:
    StateSnapshot.objects.filter(thread=edited, version=2).update(substate="[1]")
    JournalFact.objects.filter(thread=edited, type="permission/changed").update(payload="{}")
    page = visit("viewer").get(compare(edited, 2, edited.version))
    assert page.status_code == 200
    assert "Working context cleared" in text(page)


def test_what_is_missing_is_named_and_nothing_is_offered(visit: Visit, edited: AgentThread) -> None:
    page = visit("viewer").get(address(edited, "history"))
    assert "sessions:restore, sessions:fork is missing" in text(page)
    assert "act/restore" not in html(page)
    assert visit("viewer").get(act(edited, "restore"), version=1).status_code == 403
    assert visit("viewer").get(address(edited, "fork"), version=1).status_code == 403


def test_news_are_told_and_the_list_is_left_alone(visit: Visit, edited: AgentThread) -> None:
    newest = edited.version
    page = html(visit("viewer").get(address(edited, "history")))
    assert f"history?seen={newest}" in page
    quiet = visit("viewer").fragment(address(edited, "history"), seen=newest)
    assert "is new" not in text(quiet)
    told = visit("viewer").fragment(address(edited, "history"), seen=newest - 1)
    assert f"Version {newest} is new." in text(told)
    assert 'class="revs' not in html(told)


def test_a_restore_says_what_it_will_do_and_does_it(visit: Visit, edited: AgentThread) -> None:
    operator, source = visit("operator"), edited.version - 2
    path = act(edited, "restore")
    page = operator.fragment(path, version=source)
    assert f"Restore version {source} of" in text(page)
    assert "2 messages more in the working context." in text(page)
    assert "every version, also the later ones" in text(page)
    done = confirm(operator, path, page)
    assert f"Applied as version {edited.version + 1}." in text(done)
    assert state_at(edited).state == state_at(edited, source).state
    listed = text(operator.get(address(edited, "history")))
    assert f"Restored version {source}" in listed
    assert f"“{REASON}”" in listed


def test_a_restore_that_widens_asks_for_the_password(visit: Visit, edited: AgentThread) -> None:
    update(edited, {**ALLOW, "op": "remove_rule"})
    page = visit("operator").fragment(act(edited, "restore"), version=edited.version - 1)
    assert "This widens what the agent may do." in text(page)
    assert 'name="password"' in html(page)
    refused = confirm(visit("operator"), act(edited, "restore"), page)
    assert refused.status_code == 403


def test_a_restore_of_no_version_is_refused_in_the_dialog(
    visit: Visit, edited: AgentThread
) -> None:
    page = visit("operator").fragment(act(edited, "restore"), version=99)
    assert "This thread has no version 99." in text(page)


def fork(who: Visitor, thread: AgentThread, **fields: Any) -> HttpResponse:
    page = who.fragment(address(thread, "fork"), version=fields.pop("version", 1))
    return confirm(who, address(thread, "fork"), page, **fields)


def test_a_fork_leads_to_its_own_session_and_both_say_so(visit: Visit, edited: AgentThread) -> None:
    operator, name = visit("operator"), f"second-{new_id()}"
    page = operator.fragment(address(edited, "fork"), version=edited.version - 2)
    assert "2 messages, as its own history" in text(page)
    assert "this session, untouched" in text(page)
    done = confirm(operator, address(edited, "fork"), page, session_id=name)
    made = AgentSession.objects.get(session_id=name).threads.get()
    assert done["HX-Redirect"] == address(made)
    opened = text(operator.get(address(made)))
    assert f"Forked from version {edited.version - 2} of {edited.session.session_id}" in opened
    assert "hello" in opened
    assert edited.session.session_id in text(operator.get(address(made, "history")))
    assert f"Forked into {name}" in text(operator.get(address(edited, "history")))


def test_without_scripts_a_fork_is_a_page_and_redirects(visit: Visit, edited: AgentThread) -> None:
    operator = visit("operator")
    page = operator.get(address(edited, "fork"), version=1)
    assert "<html" in html(page)
    done = operator.post(address(edited, "fork"), **(hidden(page) | {"reason": REASON}))
    made = AgentSession.objects.order_by("-id")[0].threads.get()
    assert (done.status_code, done["Location"]) == (302, address(made))


def test_what_is_wrong_with_a_fork_stands_at_its_place(visit: Visit, edited: AgentThread) -> None:
    operator, taken = visit("operator"), new_thread().session.session_id
    short = fork(operator, edited, reason="short")
    assert (short.status_code, 'id="act-reason-error"' in html(short)) == (422, True)
    exists = fork(operator, edited, session_id=taken)
    assert (exists.status_code, 'id="fork-id-error"' in html(exists)) == (409, True)
    assert f'value="{taken}"' in html(exists)
    assert REASON in html(exists)
    missing = operator.fragment(address(edited, "fork"), version=99)
    assert "This thread has no version 99." in text(missing)


def test_a_waiting_thread_refuses_both_in_the_dialog(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    talk(thread, '/tool create_order {"sku": "x"}')
    for path in (act(thread, "restore"), address(thread, "fork")):
        page = visit("operator").fragment(path, version=1)
        assert page.status_code == 200
        assert "waits for an answer" in text(page)


def test_a_call_that_was_open_is_closed_by_the_next_run_and_asked_again_in_a_fork(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, '/tool create_order {"sku": "x"}')
    asked, waiting = Interaction.objects.get(), thread.version
    respond_interaction(
        actor=SYSTEM, interaction_id=asked.id, decision="deny", call_hash=asked.call_hash
    )
    talk(thread)
    page = visit("operator").fragment(address(thread, "fork"), version=waiting)
    assert "1 question that this version waited for, again" in text(page)
    confirm(visit("operator"), address(thread, "fork"), page, session_id=f"f-{new_id()}")
    copy = AgentThread.objects.get(forked_from=thread)
    assert (copy.status, copy.pending_interactions) == ("waiting", 1)
    page = visit("operator").fragment(act(thread, "restore"), version=waiting)
    assert "1 tool call has no result in that version" in text(page)
    confirm(visit("operator"), act(thread, "restore"), page)
    talk(thread, "/echo still here")
    assert thread.status == "idle"
    assert state_at(thread).state.context[-1].text == "still here"
    assert DemoOrder.objects.count() == 0


def test_a_past_state_says_that_it_is_past(visit: Visit, edited: AgentThread) -> None:
    newest = edited.version
    past = visit("operator").get(address(edited, "state"), version=1)
    assert f"Version 1 of {newest}, read-only." in text(past)
    assert f"compare/1..{newest}" in html(past)
    assert "act/set_summary" not in html(past)
    present = visit("operator").get(address(edited, "state"))
    assert "read-only" not in text(present)
    assert "act/set_summary" in html(present)


def test_two_threads_stand_beside_each_other(visit: Visit, edited: AgentThread) -> None:
    other = new_thread()
    update(other, {"op": "set_summary", "summary": "another"})
    page = visit("viewer").get(compare(edited, edited.version, 1), other=str(other.id))
    assert page.status_code == 200
    assert other.session.session_id in text(page)
    assert f"other={other.id}" in html(page)
