"""Messages that change long after they were said: an open page replaces them where they stand."""

from pathlib import Path

import pytest

from runs_app.models import Interaction
from runs_app.pages.conversation import conversation, news
from runs_app.services.respond import respond_interaction
from sessions_app.models import AgentThread
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.update_state import update_agent_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, text
from tests.pages.test_imported_conversation import bring

pytestmark = pytest.mark.django_db(transaction=True)

DATA = Path(__file__).parent.parent / "data"
FILES = ("agentscope-python/s03_parked_asking.json", "agentscope-java/agent_state_full.json")


def edit(thread: AgentThread, **operation: str) -> None:
    update_agent_state(actor=SYSTEM, thread=thread, reason="private", operations=[operation])
    thread.refresh_from_db()


def test_a_redacted_message_is_replaced_where_it_stands(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "my card is 4111", "thanks")
    seen = thread.head_seq
    first = transcript(thread).items[0]
    edit(thread, op="redact_message", message_id=str(first.message["id"]))
    fragment = visit("viewer").fragment(address(thread), after_seq=seen)
    assert f'id="m{first.seq}"' in html(fragment)
    assert "redacted: what it said was erased" in text(fragment)
    assert "4111" not in html(fragment)
    assert html(fragment).count("[redacted]") == 1
    fresh, whole = news(thread, seen), conversation(thread)
    assert fresh
    assert {item.anchor for item in fresh.items} <= {item.anchor for item in whole.items}


def test_words_that_are_only_in_the_history_leave_open_pages_too(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, "my card is 4111")
    id_ = str(state_at(thread).state.context[0].id)
    edit(thread, op="clear_context")
    seen, version = thread.head_seq, thread.version
    edit(thread, op="redact_message", message_id=id_)
    assert (thread.head_seq, thread.version) == (seen + 1, version)
    fragment = visit("viewer").fragment(address(thread), after_seq=seen)
    assert f'id="m{transcript(thread).items[0].seq}"' in html(fragment)
    assert "redacted: what it said was erased" in text(fragment)


@pytest.mark.parametrize("file", FILES)
def test_an_answered_imported_call_stays_one_call_in_its_place(
    visit: Visit, talk: Talk, file: str
) -> None:
    thread = bring(DATA / file)
    asked = list(Interaction.objects.filter(thread=thread))
    olga = visit("operator")
    seen, before = thread.head_seq, {item.anchor for item in conversation(thread).items}
    for each in asked:
        respond_interaction(
            actor=SYSTEM, interaction_id=each.id, decision="approve", call_hash=each.call_hash
        )
    talk(thread)
    fresh, whole = news(thread, seen), conversation(thread)
    assert fresh
    by_anchor = {item.anchor: item for item in whole.items}
    assert {item.anchor for item in fresh.items} <= set(by_anchor)
    replaced = [item for item in fresh.items if item.anchor in before]
    assert replaced
    for item in replaced:
        assert item.seq == by_anchor[item.anchor].seq
    fragment = html(olga.fragment(address(thread), after_seq=seen))
    page = html(olga.get(address(thread)))
    for item in replaced:
        assert f'id="{item.anchor}"' in fragment
        assert _element(fragment, item.anchor) == _element(page, item.anchor)


def _element(page: str, anchor: str) -> str:
    """One element of the conversation as it is written."""
    start = page.index(f'id="{anchor}"')
    return page[start : page.index("</article>" if anchor[0] in "mc" else "</div>", start)]
