"""The conversation of a thread: a page of it, and what changed after a fact for the live view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Max, Q

from agentadmin.engine.journal.facts import ITEM_TYPES, Fact, FactType
from agentadmin.engine.journal.projection import input_seq
from runs_app.models import Turn
from runs_app.pages.blocks import CALLS, raw_blocks
from runs_app.pages.replaced import replaced_by
from runs_app.pages.scan import SCANNED, Scan, Surroundings
from runs_app.selectors.interactions import open_interactions
from runs_app.states import TurnState
from sessions_app.journal.reading import facts_at
from sessions_app.journal.rows import read_facts
from sessions_app.journal.unreadable import column_list, kindly
from sessions_app.models import JournalFact
from sessions_app.selectors.transcript import Entry, shown_message, transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runs_app.pages.items import Item
    from sessions_app.models import AgentThread

PAGE = 40
AHEAD = 100
MOST_FACTS = 4_000
MOST_NEWS = 500
_RESULTS = (*SCANNED, FactType.TOOL_RESULT)
_SHOWN = (*SCANNED, *ITEM_TYPES, FactType.MESSAGE_REDACTED)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Elements in order, and where the older ones are."""

    items: Sequence[Item]
    before: int | None
    gone: Sequence[str] = ()
    """The anchors of what stands there no more."""


def conversation(thread: AgentThread, *, before: int | None = None) -> Conversation:
    """The newest messages before a seq, with what was decided and done about their calls."""
    page = transcript(thread, before=before, limit=PAGE)
    first = page.items[0].seq if page.items and page.before is not None else 0
    upto = thread.head_seq + 1 if before is None else before
    wanted = Q(thread_id=thread.id, seq__gte=first, type__in=SCANNED)
    facts = read_facts(wanted & Q(seq__lt=upto), MOST_FACTS, decode=kindly)
    entries = list(page.items)
    if before is not None:
        ahead = read_facts(_ahead(thread, before), MOST_FACTS, decode=kindly)
        facts += [fact for fact in ahead if fact.type not in ITEM_TYPES]
        entries += _entries(ahead, thread)
    items = Scan(_surroundings(thread, entries, facts)).run(entries, facts)
    return Conversation([item for item in items if item.seq < upto], page.before)


def news(thread: AgentThread, after: int) -> Conversation | None:
    """What facts after a seq touched, from the turns that they belong to; None when it is much."""
    known = Q(thread_id=thread.id, type__in=_SHOWN)
    fresh = read_facts(known & Q(seq__gt=after), MOST_NEWS, decode=kindly)
    if len(fresh) == MOST_NEWS:
        return None
    turns = {fact.turn_id for fact in fresh if fact.turn_id}
    recent = Q(seq__lte=after, seq__gt=after - MOST_FACTS, turn_id__in=turns)
    older = read_facts(known & recent, MOST_FACTS, decode=kindly) if turns else []
    replaced = replaced_by(thread, older, fresh)
    facts = _once([*_around(thread, replaced.entries), *older, *fresh])
    facts = [*_callers(thread, facts), *facts]
    moved = {entry.item: entry for entry in replaced.entries}
    entries = [moved.pop(entry.item, entry) for entry in _entries(facts, thread)]
    entries += moved.values()
    items = Scan(_surroundings(thread, entries, facts)).run(entries, facts)
    shown = [item for item in items if item.touched > after]
    return Conversation(shown, None, replaced.gone)


def _around(thread: AgentThread, entries: Sequence[Entry]) -> list[Fact]:
    """The results and decisions of messages that changed where they stood, behind each of them."""
    found = (
        Q(seq__gte=entry.seq, seq__lt=entry.seq + AHEAD, thread_id=thread.id, type__in=_SHOWN)
        for entry in entries
    )
    return [fact for query in found for fact in read_facts(query, AHEAD, decode=kindly)]


def _once(facts: Sequence[Fact]) -> list[Fact]:
    """Each fact once, in order."""
    return [fact for _, fact in sorted({fact.seq: fact for fact in facts}.items())]


def queued(thread: AgentThread) -> list[Turn]:
    """The turns that wait behind the one that runs, in their order."""
    rows = Turn.objects.filter(thread=thread, state=TurnState.QUEUED)
    return list(rows.order_by("start_seq")[:PAGE])


def head_turn(thread: AgentThread) -> Turn | None:
    """The turn at the head of the queue, which commands are about."""
    if thread.active_turn_id is None:
        return None
    return Turn.objects.filter(id=thread.active_turn_id).first()


def _callers(thread: AgentThread, facts: Sequence[Fact]) -> list[Fact]:
    """The message whose calls these facts answer, where it came before their turn: an import's."""
    answered = {fact.payload.get("call_id") for fact in facts if fact.type in _RESULTS} - {None}
    made = {call for fact in facts for call in _calls_in(fact)}
    if not answered - made:
        return []
    before = JournalFact.objects.filter(
        thread_id=thread.id, type=FactType.MESSAGE_ASSISTANT, seq__lt=min(f.seq for f in facts)
    )
    newest = before.aggregate(newest=Max("seq"))["newest"]
    return facts_at(str(thread.id), [newest], decode=kindly) if newest else []


def _calls_in(fact: Fact) -> Iterator[str]:
    """The ids of the calls of an assistant message."""
    if fact.type == FactType.MESSAGE_ASSISTANT:
        for block in raw_blocks(fact.payload.get("message")):
            if block.get("type") in CALLS:
                yield str(block.get("id"))


def _ahead(thread: AgentThread, before: int) -> Q:
    """The results and decisions of calls that end an older page stand right behind it."""
    return Q(thread_id=thread.id, seq__gte=before, seq__lt=before + AHEAD, type__in=_RESULTS)


def _entries(facts: Sequence[Fact], thread: AgentThread) -> list[Entry]:
    """Messages from facts: a later fact with the same key replaces the earlier one in place."""
    items = [fact for fact in facts if fact.type in ITEM_TYPES]
    sources = [seq for seq in map(input_seq, items) if seq is not None]
    inputs = facts_at(str(thread.id), sources, decode=kindly)
    known = {fact.seq: fact for fact in (*facts, *inputs)}
    made: dict[str, Entry] = {}
    for fact in items:
        given = fact.payload.get("item")
        key = given if isinstance(given, str) else f"?{fact.seq}"
        first = made.get(key)
        made[key] = Entry(
            seq=first.seq if first else fact.seq,
            item=key,
            type=fact.type,
            at=first.at if first else fact.occurred_at,
            turn_id=first.turn_id if first else fact.turn_id,
            run_id=fact.run_id,
            message=shown_message(fact, known),
            in_context=True,
            changed_seq=fact.seq if first else None,
        )
    return list(made.values())


def _surroundings(
    thread: AgentThread, entries: Iterable[Entry], facts: Iterable[Fact]
) -> Surroundings:
    named = (*(entry.turn_id for entry in entries), *(fact.turn_id for fact in facts))
    ids = {turn_id for turn_id in named if turn_id}
    turn = head_turn(thread)
    uncertain = turn.wait_ids if turn and turn.wait_kind == "reconcile" else "[]"
    pending = open_interactions(thread) if thread.pending_interactions else []
    return Surroundings(
        turns=_numbered(thread, ids),
        pending={asked.call_id: asked for asked in pending},
        uncertain=frozenset(column_list(uncertain)),
        agent=thread.agent_id,
        person=thread.session.user_id or "user",
    )


def _numbered(thread: AgentThread, ids: set[str]) -> dict[str, tuple[int, Turn]]:
    """Turns with their numbers in the thread."""
    of_thread = Turn.objects.filter(thread=thread)
    turns = {turn.id: turn for turn in of_thread.filter(id__in=ids)}
    if not turns:
        return {}
    first = min(turn.start_seq for turn in turns.values())
    last = max(turn.start_seq for turn in turns.values())
    between = of_thread.filter(start_seq__gte=first, start_seq__lte=last).order_by("start_seq")
    start = of_thread.filter(start_seq__lt=first).count() + 1
    numbers = {id_: n for n, id_ in enumerate(between.values_list("id", flat=True), start)}
    return {id_: (numbers[id_], turn) for id_, turn in turns.items()}
