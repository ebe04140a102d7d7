"""The conversation: messages, calls with their decisions, lenses, older pages, news."""

import re

import pytest

from agentadmin.audit import later
from runs_app.pages.conversation import conversation, news
from runs_app.pages.items import Call, Message, TurnHead
from sessions_app.models import AgentThread
from sessions_app.services.update_state import update_agent_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, text

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_turn_is_read_with_its_call_decision_and_result(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, '/tool calculator {"expression": "6 * 7"}')
    page = text(visit("viewer").get(address(thread)))
    assert "Turn 1" in page
    assert "6 * 7" in page
    assert "ALLOW" in page
    assert "calculator returned: 42" in page


def test_the_sessions_own_address_opens_its_first_thread(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello there")
    page = visit("viewer").get(f"/sessions/{thread.session_id}")
    assert page.status_code == 200
    assert "You said: hello there" in text(page)
    assert visit("viewer").get(f"/threads/{thread.id}")["Location"] == address(thread)


@pytest.mark.parametrize("tab", ["conversation", "state", "permissions", "runs", "audit"])
def test_a_stranger_finds_no_page_of_the_thread(
    visit: Visit, thread: AgentThread, tab: str
) -> None:
    assert visit("stranger").get(address(thread, tab)).status_code == 404
    assert visit("stranger").get(f"/sessions/{thread.session_id}").status_code == 404


def test_reading_somebodys_conversation_is_audited(visit: Visit, thread: AgentThread) -> None:
    visit("operator").get(address(thread))
    assert any(e.action == "threads.read_transcript" for e in later._queue._waiting)


def test_a_page_carries_what_the_live_view_goes_on_from(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    page = html(visit("viewer").get(address(thread)))
    assert f'data-cursor="{str(thread.id)[-8:]}.{thread.head_seq}-0"' in page
    assert f'data-seq="{thread.head_seq}"' in page
    assert f'data-fragment-url="{address(thread)}"' in page
    assert "data-live-blocks" in page


def test_news_are_the_same_elements_as_the_page_has(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "one")
    seen = thread.head_seq
    talk(thread, '/tool calculator {"expression": "1 + 1"}')
    whole = {i.anchor: type(i) for i in conversation(thread).items}
    fresh = news(thread, seen)
    assert fresh
    assert {i.anchor for i in fresh.items} == {
        anchor for anchor, item in whole.items() if anchor not in _anchors_of_turn_one(thread)
    }
    fragment = html(visit("viewer").fragment(address(thread), after_seq=seen))
    assert 'id="sess-head"' in fragment
    assert all(f'id="{item.anchor}"' in fragment for item in fresh.items)
    assert "<html" not in fragment


def _anchors_of_turn_one(thread: AgentThread) -> set[str]:
    items = list(conversation(thread).items)
    second = next(i for i, item in enumerate(items) if isinstance(item, TurnHead) and i)
    return {item.anchor for item in items[:second]}


def test_a_page_far_behind_is_loaded_afresh(
    visit: Visit, thread: AgentThread, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs_app.pages.conversation.MOST_NEWS", 3)
    talk(thread, "one", "two")
    answer = visit("viewer").fragment(address(thread), after_seq=0)
    assert answer["HX-Refresh"] == "true"


def test_a_question_stands_at_its_call(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    talk(thread, '/tool create_order {"sku": "tea", "quantity": 2}')
    items = conversation(thread).items
    call = next(item for item in items if isinstance(item, Call))
    assert call.pending
    assert call.status == "approval"
    page = html(visit("approver").get(address(thread)))
    assert page.index(f'id="{call.anchor}"') < page.index('value="deny"')


def test_clearing_folds_and_the_history_stays(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "before")
    update_agent_state(
        actor=SYSTEM, thread=thread, reason="tidy", operations=[{"op": "clear_context"}]
    )
    talk(thread, "after")
    page = text(visit("viewer").get(address(thread)))
    assert page.index("before") < page.index("Working context cleared") < page.index("after")
    context = text(visit("viewer").get(address(thread), lens="context"))
    assert "You said: before" not in context
    assert "You said: after" in context


def test_the_summary_has_a_lens(visit: Visit, thread: AgentThread) -> None:
    operations = [{"op": "set_summary", "summary": "All **done**."}]
    update_agent_state(actor=SYSTEM, thread=thread, reason="tidy", operations=operations)
    assert "<strong>done</strong>" in html(visit("viewer").get(address(thread), lens="summary"))


def test_older_pages_lose_and_double_nothing(visit: Visit, thread: AgentThread, talk: Talk) -> None:
    said = [f"/echo number {n}" for n in range(30)]
    talk(thread, *said, '/tools [{"name":"calculator","input":{"expression":"1"}}]')
    anchors: list[str] = []
    before: int | None = None
    while True:
        page = conversation(thread, before=before)
        anchors = [i.anchor for i in page.items if isinstance(i, Message | Call)] + anchors
        if page.before is None:
            break
        before = page.before
    assert len(anchors) == len(set(anchors)) == 63
    assert "Older messages" in text(visit("viewer").get(address(thread)))


def test_a_call_at_the_end_of_an_older_page_has_its_result(
    thread: AgentThread, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs_app.pages.conversation.PAGE", 2)
    talk(thread, '/tool calculator {"expression": "6 * 7"}')
    newest = conversation(thread)
    older = conversation(thread, before=newest.before)
    call = next(item for item in older.items if isinstance(item, Call))
    assert call.head == "42"
    assert call.first == "allow"


def test_every_message_has_an_anchor_that_its_time_links_to(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "hello")
    page = html(visit("viewer").get(address(thread)))
    anchors = re.findall(r'<article class="msg[^"]*" id="(m\d+)"', page)
    assert len(anchors) == 2
    assert all(f'href="#{anchor}"' in page for anchor in anchors)


@pytest.mark.parametrize("query", [{"before": "x"}, {"before": "-1"}, {"after_seq": "1.5"}])
def test_a_malformed_place_is_refused(
    visit: Visit, thread: AgentThread, query: dict[str, str]
) -> None:
    answer = visit("viewer").fragment(address(thread), **query)
    assert answer.status_code == 422


def test_elements_stand_in_the_order_that_news_would_put_them_in(
    thread: AgentThread, talk: Talk
) -> None:
    # Both turns are accepted before the first one writes anything.
    talk(thread, "/echo one", "/echo two")
    seqs = [item.seq for item in conversation(thread).items]
    assert seqs == sorted(seqs)
    fresh = news(thread, 2)
    assert fresh
    assert [item.seq for item in fresh.items] == seqs
