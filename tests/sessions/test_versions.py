"""The list of versions and what stands beside what when two are compared."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from agentadmin.engine.errors import BadCursor, InvalidInput, NotFound
from agentadmin.engine.journal.facts import FactType, NewFact
from sessions_app.models import AgentThread, JournalFact
from sessions_app.selectors.checkpoint_words import changes_of, reason_of, title_of
from sessions_app.selectors.checkpoints import Checkpoint, CheckpointKind, checkpoint_page
from sessions_app.selectors.comparison import compare
from sessions_app.selectors.threads import state_at
from sessions_app.services.importing import Import, import_state
from sessions_app.services.update_state import update_agent_state
from tests.engine.state import fixtures
from tests.sessions.conftest import make_thread, say
from tests.sessions.holding import RUN, Held
from tests.sessions.people import OPERATOR

pytestmark = pytest.mark.django_db

CLEAR = {"op": "clear_context"}
SUMMARY = {"op": "set_summary", "summary": "s"}
DENY = {"op": "add_rule", "behavior": "deny", "tool_name": "execute", "source": "session"}


def update(thread: AgentThread, *operations: dict[str, Any]) -> None:
    update_agent_state(
        actor=OPERATOR, thread=thread, reason="card number", operations=list(operations)
    )
    thread.refresh_from_db()


def words(thread: AgentThread) -> list[tuple[str, str, list[str]]]:
    page = checkpoint_page(thread)
    return [(found.kind.value, title_of(found), changes_of(found)) for found in page.items]


def newest(thread: AgentThread) -> Checkpoint:
    return checkpoint_page(thread).items[0]


def test_every_version_says_what_it_did(thread: AgentThread) -> None:
    update(thread, CLEAR)
    update(thread, SUMMARY)
    update(thread, DENY)
    update(thread, {"op": "restore", "version": 1})
    assert words(thread) == [
        ("restore", "Restored version 1", ["+4 messages", "permissions", "summary"]),
        ("edit", "Permissions changed", ["permissions"]),
        ("edit", "Summary changed", ["summary"]),
        ("edit", "Working context cleared", ["\N{MINUS SIGN}4 messages"]),
        ("edit", "Messages changed", ["+4 messages"]),
    ]
    assert newest(thread).restored_version == 1
    assert {reason_of(found) for found in checkpoint_page(thread).items} == {"card number", "said"}


def test_compacting_and_redacting_have_words_of_their_own(thread: AgentThread) -> None:
    update(thread, {"op": "compact"})
    compacted = state_at(thread).state.context
    assert words(thread)[0][:2] == ("edit", f"Compacted to {len(compacted)} messages")
    update(thread, {"op": "redact_message", "message_id": compacted[0].id})
    assert words(thread)[0] == ("edit", "1 message rewritten", ["messages"])


def test_a_run_is_told_from_an_edit_that_it_passes_on(thread: AgentThread) -> None:
    held = Held(thread)
    held.writer.state.cur_iter = 1
    held.end()
    assert (newest(thread).kind, newest(thread).run_id) == (CheckpointKind.RUN, RUN)
    assert (title_of(newest(thread)), reason_of(newest(thread))) == ("Turn completed", "")
    held = Held(thread)
    answer = update_agent_state(
        actor=OPERATOR, thread=thread, reason="now", operations=[DENY], on_busy="wait"
    )
    assert answer.status == 202
    held.between_steps()
    assert (newest(thread).kind, newest(thread).run_id) == (CheckpointKind.EDIT, None)
    assert newest(thread).row.actor == "olga"


def test_what_a_failed_run_left_does_not_colour_the_next_edit(thread: AgentThread) -> None:
    failed = {"outcome": "error", "error": {"code": "x", "detail": "y"}}
    held = Held(thread)
    held.writer.state.cur_iter = 1
    held.end()
    say(thread, facts=(NewFact(FactType.TURN_FAILED, failed, "turn-2", "run-2"),))
    update(thread, SUMMARY)
    assert newest(thread).kind is CheckpointKind.EDIT


def test_imports_and_repairs_are_called_so(thread: AgentThread) -> None:
    wanted = Import(document=fixtures.full_state().to_json(), session_id="imported")
    [first] = checkpoint_page(import_state(actor=OPERATOR, wanted=wanted).threads.get()).items
    assert (first.kind, title_of(first)) == (CheckpointKind.IMPORT, "Imported from agentscope-java")
    held = Held(thread)
    held.writer.state.cur_iter = 2
    mended = NewFact(FactType.RECOVERY_APPLIED, {"repairs": []}, "turn-1", "run-1")
    say_in(held, mended)
    assert newest(thread).kind is CheckpointKind.REPAIR


def say_in(held: Held, *facts: NewFact) -> None:
    async_to_sync(held.writer.flush)(facts, reason="repair")


def test_a_version_that_allowed_more_says_so_wherever_a_page_begins(thread: AgentThread) -> None:
    allow = {**DENY, "behavior": "allow"}
    update(thread, DENY)
    update(thread, allow)
    update(thread, SUMMARY)
    update(thread, {"op": "restore", "version": 1})
    update(thread, {"op": "restore", "version": 3})
    wider = ("adds the rule allow execute",)
    assert [found.widened for found in checkpoint_page(thread).items] == [
        wider,
        ("removes the rule deny execute",),
        (),
        wider,
        (),
        (),
    ]
    alone = checkpoint_page(thread, cursor="4", limit=1).items[0]
    assert (alone.version, alone.widened) == (3, wider)


def test_a_version_weighs_what_it_wrote_also_outside_of_the_row(thread: AgentThread) -> None:
    update(thread, {"op": "set_summary", "summary": "\N{GREEK SMALL LETTER ALPHA}" * 70_000})
    long = newest(thread)
    assert JournalFact.objects.filter(thread=thread, payload__isnull=True).count() == 1
    assert 280_000 < long.octets < 290_000
    update(thread, DENY)
    assert 140_000 < newest(thread).octets < 150_000
    say(thread, "short")
    assert newest(thread).octets < 1_000


def test_versions_are_paged_by_key_and_each_page_knows_its_deltas(thread: AgentThread) -> None:
    for number in range(5):
        say(thread, f"message {number}")
    seen: list[int] = []
    cursor, deltas = None, []
    while True:
        page = checkpoint_page(thread, cursor=cursor, limit=2)
        seen += [found.version for found in page.items]
        deltas += [found.messages_delta for found in page.items]
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    assert (seen, deltas) == ([6, 5, 4, 3, 2, 1], [1, 1, 1, 1, 1, 4])


def test_a_page_of_versions_takes_few_questions(
    thread: AgentThread, django_assert_max_num_queries: Any
) -> None:
    for number in range(8):
        say(thread, f"message {number}")
    with django_assert_max_num_queries(6):
        checkpoint_page(thread)


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "1" * 30, "\N{ARABIC-INDIC DIGIT ONE}"])
def test_a_cursor_of_another_kind_is_refused(thread: AgentThread, cursor: str) -> None:
    with pytest.raises(BadCursor):
        checkpoint_page(thread, cursor=cursor)
    with pytest.raises(InvalidInput):
        checkpoint_page(thread, limit=201)


def test_a_thread_without_a_state_has_no_versions() -> None:
    assert checkpoint_page(make_thread()).items == []


def test_two_versions_stand_beside_each_other(thread: AgentThread) -> None:
    update(thread, CLEAR, DENY)
    found = compare(thread)
    assert (found.before.version, found.after.version) == (1, 2)
    assert set(found.diff) == {"messages", "permission"}
    assert found.diff["permission"]["narrowed"] == ["adds the rule deny execute"]
    assert [change.fate for change in found.messages] == ["removed"] * 4
    assert found.after.made is not None
    assert compare(thread, 2, 2).diff == {}


def test_versions_read_together_are_the_versions_read_alone(thread: AgentThread) -> None:
    say(thread, "five")
    update(thread, CLEAR, DENY)
    say(thread, "six")
    update(thread, {"op": "restore", "version": 2})
    for first in range(6):
        for second in range(6):
            found = compare(thread, first, second)
            for side, version in ((found.before, first), (found.after, second)):
                alone = state_at(thread, version).state
                alone.reply_id = side.found.state.reply_id
                assert side.found.state == alone


def test_nothing_is_the_state_before_the_first(thread: AgentThread) -> None:
    found = compare(thread, 0, 1)
    assert found.before.made is None
    assert [change.fate for change in found.messages] == ["added"] * 4


def test_two_threads_are_compared_by_their_newest_states(thread: AgentThread) -> None:
    other = make_thread()
    say(other, "one")
    found = compare(thread, other=other)
    assert (found.before.thread, found.after.thread) == (thread, other)
    assert found.diff["messages"]["before"] == 4
    assert found.diff["messages"]["after"] == 1


def test_a_version_of_no_number_is_not_found(thread: AgentThread) -> None:
    with pytest.raises(NotFound):
        compare(thread, 1, 9)
