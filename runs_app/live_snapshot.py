"""Everything a live view of a thread needs, and the cursor that covers exactly that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.state import codec
from runs_app import cursors
from runs_app.live.blocks import running_blocks
from runs_app.schemas import interaction_item, run_item, turn_item
from runs_app.selectors.interactions import open_interactions
from runs_app.selectors.runs import run_page
from runs_app.selectors.turns import turn_page
from runs_app.states import TERMINAL
from sessions_app.journal.reading import facts_at
from sessions_app.mailbox import open_controls
from sessions_app.models import AgentThread
from sessions_app.schemas import control_whole, thread_whole, transcript_page
from sessions_app.selectors.threads import thread_detail
from sessions_app.selectors.transcript import transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.access.actor import Actor
    from runs_app.cursors import Position
    from runs_app.models import Turn

TRIES = 5
TURNS = 50
RUNS = 10


def thread_snapshot(actor: Actor, thread_id: object, *, limit: int = 50) -> dict[str, Any]:
    """A consistent reading: it is done again when a commit came in between.

    On a thread that never rests the last reading is given; its rows may then be ahead of the
    cursor, and the events that tell of it say what the rows say already.
    """
    for _ in range(TRIES):
        thread = thread_detail(actor, thread_id)
        found = _read(actor, thread, limit)
        if _head(thread) == thread.head_seq:
            break
    return found


def page_cursor(thread: AgentThread, seq: int) -> str:
    """The cursor of a page that shows the facts up to a seq and no running block.

    It lies before the running blocks, so that their text comes whole; facts between that place and
    the seq come again, which is harmless: views know facts by their seq.
    """
    return _format(thread, running_blocks(str(thread.id), seq).before)


def _read(actor: Actor, thread: AgentThread, limit: int) -> dict[str, Any]:
    running = running_blocks(str(thread.id), thread.head_seq)
    found = transcript(thread, as_of=thread.head_seq, limit=limit)
    turns = turn_page(thread, limit=TURNS).items
    runs = run_page(actor, thread_id=str(thread.id), limit=RUNS).items
    return {
        "cursor": _format(thread, running.at),
        "seq": thread.head_seq,
        "version": thread.version,
        "thread": thread_whole(thread),
        "messages": transcript_page(found),
        "turns": [turn_item(turn) for turn in turns],
        "inputs": _inputs(thread, turns),
        "runs": [run_item(run) for run in runs],
        "interactions": [interaction_item(asked) for asked in open_interactions(thread)],
        "controls": [control_whole(control) for control in open_controls([thread.id])],
        "blocks": [block.to_dict() for block in running.blocks],
    }


def _inputs(thread: AgentThread, turns: Sequence[Turn]) -> dict[str, Any]:
    """What was said and is not read, by the seq that later `message/user` events refer to."""
    going = [turn for turn in turns if turn.state not in TERMINAL]
    seqs = [seq for turn in going for seq in (turn.start_seq, *codec.loads(turn.steering))]
    return {str(f.seq): f.payload["input"] for f in facts_at(str(thread.id), seqs)}


def _head(thread: AgentThread) -> int:
    return AgentThread.objects.values_list("head_seq", flat=True).get(id=thread.id)


def _format(thread: AgentThread, at: Position) -> str:
    return cursors.format(str(thread.id), at.seq, at.n)
