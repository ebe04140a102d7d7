"""The inbox and the card: the exact call, one answer, edits, rules, questions."""

import json
import re
from typing import Any

import pytest

from agentadmin.engine.state import codec
from runs_app.models import Interaction
from runs_app.pages.approval import card_of
from runs_app.services.respond import respond_interaction
from sessions_app.models import AgentThread
from sessions_app.selectors.threads import state_at
from tests.pages.conftest import PASSWORD, SYSTEM, Talk, Visit, address, html, text

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "Because the test says so"
ORDER = '/tool create_order {"sku": "tea \\u202e x", "quantity": 2}'


def asked(thread: AgentThread, talk: Talk, said: str = ORDER) -> Interaction:
    talk(thread, said)
    return Interaction.objects.select_related("thread__session").get(status="pending")


def test_the_inbox_shows_the_exact_call_and_its_hidden_characters(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    page = visit("approver").get("/approvals")
    assert "create_order wants to run" in text(page)
    assert "U+202E" in text(page)
    assert "1 hidden character." in text(page)
    assert question.call_hash[:8] in text(page)
    assert "1 waiting" in text(page)
    assert 'aria-label="1 approvals waiting"' in html(page)
    assert "\u202e" not in html(page)


def test_a_stranger_has_an_empty_inbox(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    question = asked(thread, talk)
    assert "Nothing waits for you" in text(visit("stranger").get("/approvals"))
    assert visit("stranger").get(f"/approvals/{question.id}").status_code == 404
    answer = visit("stranger").post(f"/approvals/{question.id}/respond", decision="deny")
    assert answer.status_code == 404


def test_a_viewer_reads_but_may_not_decide(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    question = asked(thread, talk)
    page = text(visit("viewer").get(f"/approvals/{question.id}"))
    assert "Deciding needs the permission interactions:respond" in page
    answer = visit("viewer").post(
        f"/approvals/{question.id}/respond", decision="approve", call_hash=question.call_hash
    )
    assert answer.status_code == 403


def test_deny_is_the_first_and_the_primary_button(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    asked(thread, talk)
    page = html(visit("approver").get("/approvals"))
    assert '<button class="btn primary" name="decision" value="deny"' in page
    assert page.index('value="deny"') < page.index("Allow once")


def test_one_answer_wins_and_the_other_hears_whose(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    path = f"/approvals/{question.id}/respond"
    fields = {"call_hash": question.call_hash, "reason": "not today"}
    done = visit("approver").post(path, htmx=True, decision="deny", **fields)
    assert done.status_code == 200
    assert "Denied" in text(done)
    late = visit("operator").post(path, htmx=True, decision="approve", **fields)
    assert late.status_code == 409
    assert "approver decided this" in text(late)
    assert "<form" not in html(late)
    page = visit("operator").get(address(talk(thread)))
    assert re.search(r"DENY\s*by approver", text(page))


def test_an_answer_binds_to_the_call_that_was_shown(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    path = f"/approvals/{question.id}/respond"
    answer = visit("approver").post(
        path, htmx=True, decision="approve", call_hash="0" * 64, reason="kept draft"
    )
    assert answer.status_code == 409
    assert 'value="kept draft"' in html(answer)
    question.refresh_from_db()
    assert question.status == "pending"


def test_without_scripts_the_answer_leads_back(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    fields: dict[str, Any] = {"decision": "deny", "call_hash": question.call_hash}
    done = visit("approver").post(
        f"/approvals/{question.id}/respond", next="https://elsewhere.example/", **fields
    )
    assert (done.status_code, done["Location"]) == (302, address(thread))


def test_edited_arguments_are_what_runs(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    question = asked(thread, talk)
    path = f"/approvals/{question.id}/edit"
    dialog = visit("approver").fragment(path)
    assert "Edit the call of create_order" in text(dialog)
    wrong = visit("approver").post(path, htmx=True, reason=REASON, input='{"sku": ')
    assert wrong.status_code == 422
    assert "This is not JSON" in text(wrong)
    assert REASON in html(wrong)
    done = visit("approver").post(
        path, htmx=True, reason=REASON, input=json.dumps({"sku": "coffee", "quantity": 1})
    )
    assert done.status_code == 200, text(done)
    assert "1 x coffee" in text(visit("viewer").get(address(talk(thread))))


def test_allowing_with_a_rule_needs_a_fresh_sign_in(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    assert codec.loads(question.suggested_rules)
    path = f"/approvals/{question.id}/allow-rule"
    dialog = visit("operator").fragment(path)
    assert "adds the rule allow create_order" in text(dialog)
    refused = visit("operator").post(path, htmx=True, reason=REASON)
    assert refused.status_code == 403
    assert 'id="act-password"' in html(refused)
    done = visit("operator").post(path, htmx=True, reason=REASON, password=PASSWORD)
    assert done.status_code == 200, text(done)
    talk(thread)
    assert "create_order" in state_at(thread).state.permission_context.allow_rules


def test_a_question_offers_its_choices(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    question = asked(
        thread, talk, '/tool ask_user {"question": "Which?", "choices": ["<b>A</b>", "B"]}'
    )
    page = html(visit("approver").get(f"/approvals/{question.id}"))
    assert 'type="radio" name="answer" value="&lt;b&gt;A&lt;/b&gt;"' in page
    path = f"/approvals/{question.id}/respond"
    none = visit("approver").post(path, htmx=True, decision="answer", call_hash=question.call_hash)
    assert none.status_code == 422
    assert "answer is needed" in text(none)
    done = visit("approver").post(
        path, htmx=True, decision="answer", answer="B", call_hash=question.call_hash
    )
    assert "Answered" in text(done)


def test_look_alike_letters_are_pointed_out(thread: AgentThread, talk: Talk) -> None:
    question = asked(thread, talk, '/tool create_order {"sku": "https://get.p\\u0430ypal.dev/x"}')
    found = card_of(SYSTEM, question).findings
    assert [finding.title for finding in found] == ["Look-alike letters."]


def test_what_another_decided_meanwhile_shows_when_the_card_is_opened(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    respond_interaction(
        actor=SYSTEM,
        interaction_id=question.id,
        decision="deny",
        call_hash=question.call_hash,
    )
    page = text(visit("approver").get(f"/approvals/{question.id}"))
    assert "Denied" in page
    assert "by tests" in page


def test_what_is_unusual_is_read_again_before_it_is_allowed(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    page = html(visit("approver").get("/approvals"))
    assert f'href="/approvals/{question.id}/allow-once" data-dialog data-key="a"' in page
    assert "1 warning" in text(visit("approver").get("/approvals"))
    dialog = text(visit("approver").fragment(f"/approvals/{question.id}/allow-once"))
    assert "Look twice. 1 hidden character." in dialog
    short = visit("approver").post(f"/approvals/{question.id}/allow-once", htmx=True, reason="ok")
    assert short.status_code == 422
    visit("approver").post(f"/approvals/{question.id}/allow-once", htmx=True, reason=REASON)
    question.refresh_from_db()
    assert (question.status, question.reason) == ("approved", REASON)


def test_the_rule_that_asked_is_named(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    from sessions_app.services.update_state import update_agent_state

    rule = {"behavior": "ask", "tool_name": "calculator", "rule_content": None, "source": "ops"}
    update_agent_state(
        actor=SYSTEM, thread=thread, reason="look", operations=[{"op": "add_rule", **rule}]
    )
    asked(thread, talk, '/tool calculator {"expression": "1"}')
    assert "calculator (ask, source ops)" in text(visit("approver").get("/approvals"))


def test_decided_questions_stand_under_a_filter_with_who_decided(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    question = asked(thread, talk)
    assert "Nothing was decided yet" in text(visit("approver").get("/approvals?show=decided"))
    visit("approver").post(
        f"/approvals/{question.id}/respond", decision="deny", call_hash=question.call_hash
    )
    waiting = text(visit("operator").get("/approvals"))
    assert "Nothing waits for you" in waiting
    decided = text(visit("operator").get("/approvals?show=decided"))
    assert "approver denied this" in decided
    open_page = text(visit("operator").get(f"/approvals/{question.id}"))
    assert "approver denied this" in open_page
    assert visit("operator").get("/inbox/count").json() == {"approvals": 0}


def test_decided_questions_are_paged(visit: Visit, thread: AgentThread) -> None:
    from agentadmin.engine.journal.facts import FactType, NewFact
    from runs_app.services.commits import append_facts
    from tests.pages.test_commands import running
    from tests.runs.test_recorder import answered, asks

    turn = running(thread)
    ids = [f"i{n:02}" for n in range(60)]
    append_facts(thread, *(asks(turn.id, id_) for id_ in ids))
    append_facts(thread, *(answered(id_, turn=turn.id) for id_ in ids))
    append_facts(thread, NewFact(FactType.TURN_RESUMED, {"why": "answered"}, turn.id, "r"))
    who, seen, path = visit("operator"), [], "/approvals?show=decided"
    while path:
        page = html(who.get(path))
        seen += re.findall(r'id="(ask-[^"]+)"', page)
        older = re.search(r'href="(\?[^"]*cursor=[^"]*)" rel="next"', page)
        path = f"/approvals{older[1].replace('&amp;', '&')}" if older else ""
    assert len(seen) == len(set(seen)) == 60
