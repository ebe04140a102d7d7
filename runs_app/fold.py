"""From facts to rows: a pure fold, the same for a live commit and for a rebuild from history."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import AlreadyDecided, InputPending, NotFound, TurnFinished
from agentadmin.engine.journal.facts import TURN_ENDS, Fact, FactType
from agentadmin.engine.state import codec
from runs_app.book import Book, move, wake_when_answered
from runs_app.rows import InteractionRow, RunRow, ThreadRow, TurnRow, plain
from runs_app.states import (
    STATUS_OF_DECISION,
    TERMINAL,
    WAITS,
    Decision,
    InteractionStatus,
    Outcome,
    RunStatus,
    TurnState,
    WaitKind,
)
from sessions_app.states import ThreadStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PREVIEW = 200
ERROR_LIMIT = 2000
MOST_TOKENS = 1_000_000_000
"""Of one run: a figure beyond it is a provider's mistake, and sums of it would not fit."""
READS_FIRST = frozenset({Outcome.DONE, Outcome.MAX_ITERATIONS})
"""Ends that the turn itself comes to: they wait until it has read what it was told meanwhile."""
REPAIR_RECONCILED = "reconciled"
"""The kind of a repair in `recovery/applied` that records an outcome nobody knew."""
REPAIR_DEFINED = "defined"
"""The kind of one that says that the turn's agent is defined by now."""


def fold(book: Book, fact: Fact) -> None:
    """Apply one fact. Raises TurnFinished, AlreadyDecided or Conflict where the table says no."""
    handler = HANDLERS.get(fact.type)
    if handler is not None:
        handler(book, fact)


# --- Turns ----------------------------------------------------------------------------------------


def _turn_started(book: Book, fact: Fact) -> None:
    by = fact.payload.get("by") or {}
    request_id = fact.payload.get("request_id")
    turn = TurnRow(
        id=fact.turn_id or "",
        thread_id=book.thread.id,
        start_seq=fact.seq,
        state=TurnState.QUEUED,
        wait_kind=None,
        wait_ids="[]",
        outcome=None,
        revision=1,
        request_id=None if request_id is None else plain(request_id),
        input_preview=preview(fact.payload.get("input") or []),
        steering="[]",
        actor_name=plain(by.get("name") or ""),
        created_at=fact.occurred_at,
        started_at=None,
        ended_at=None,
        attempts=0,
        reply=None,
        error=None,
    )
    book.add_turn(turn)
    thread = book.thread
    thread.turns += 1
    thread.queued_turns += 1
    if thread.active_turn_id is None:
        _lead(thread, turn, fact)


def _lead(thread: ThreadRow, turn: TurnRow, fact: Fact) -> None:
    """Make a queued turn the head: the next one to be worked on."""
    thread.active_turn_id = turn.id
    thread.status = ThreadStatus.QUEUED
    thread.runnable_since = fact.occurred_at


def preview(messages: list[dict[str, Any]]) -> str:
    """The first words of an input, for lists."""
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            return plain(content, PREVIEW)
        for block in content or []:
            if block.get("type") == "text" and block.get("text"):
                return plain(block["text"], PREVIEW)
    return ""


def _turn_suspended(book: Book, fact: Fact) -> None:
    turn = move(book, fact, fact.type)
    if turn is None:
        return
    wait = fact.payload.get("wait") or {}
    turn.wait_kind = wait.get("kind")
    turn.wait_ids = codec.dumps(wait.get("ids") or [])
    thread = book.thread
    thread.active_turn_id = turn.id
    thread.status = ThreadStatus.WAITING
    thread.runnable_since = None
    wake_when_answered(book, turn, fact.occurred_at)


def _turn_resumed(book: Book, fact: Fact) -> None:
    """A run goes on after its wait, or a person lets a paused turn go on as it was."""
    to = fact.payload.get("to")
    turn = move(book, fact, f"{fact.type}:{to}" if to else fact.type)
    if turn is None:
        return
    thread = book.thread
    if turn.state == TurnState.QUEUED:
        if thread.active_turn_id in (None, turn.id):
            _lead(thread, turn, fact)
    elif turn.state == TurnState.WAITING:
        thread.status = ThreadStatus.WAITING
        if turn.wait_kind == WaitKind.DEFINITION:
            # A worker looks again whether the agent is defined.
            thread.runnable_since = fact.occurred_at
        wake_when_answered(book, turn, fact.occurred_at)
    else:
        _go(thread, turn, fact.occurred_at)


def _go(thread: ThreadRow, turn: TurnRow, at: datetime) -> None:
    thread.active_turn_id = turn.id
    thread.status = ThreadStatus.RUNNING
    thread.runnable_since = thread.runnable_since or at


def _turn_paused(book: Book, fact: Fact) -> None:
    turn = move(book, fact, fact.type)
    if turn is not None and book.thread.active_turn_id == turn.id:
        book.thread.status = ThreadStatus.PAUSED
        book.thread.runnable_since = None


def _turn_ended(book: Book, fact: Fact) -> None:
    turn = move(book, fact, fact.type)
    if turn is None:
        return
    if fact.type == FactType.TURN_COMPLETED and turn.steering != "[]":
        _refuse_unread(turn, fact)
    turn.steering = "[]"
    turn.ended_at = fact.occurred_at
    turn.outcome = fact.payload.get("outcome")
    turn.reply = fact.payload.get("reply")
    error = fact.payload.get("error")
    if error:
        # The detail is cut and not the JSON, so that the code survives.
        short = {**error, "detail": str(error.get("detail") or "")[: ERROR_LIMIT // 2]}
        turn.error = plain(codec.dumps(short), ERROR_LIMIT)
        run = book.run(fact.run_id) if fact.run_id else None
        if run is not None and run.first_error is None:
            run.first_error = plain(str(error.get("detail") or error.get("code")), ERROR_LIMIT)
    if book.thread.active_turn_id == turn.id:
        _next_turn(book, fact)


def _refuse_unread(turn: TurnRow, fact: Fact) -> None:
    """An answer that was given before it was told everything is not the last one."""
    if fact.payload.get("outcome") in READS_FIRST:
        raise InputPending(codec.loads(turn.steering))


def _count(value: Any) -> int:
    """What a provider claims to have counted, as far as a column holds it."""
    return min(max(int(value or 0), 0), MOST_TOKENS)


def _next_turn(book: Book, fact: Fact) -> None:
    """The head has ended: the oldest queued turn leads, or the thread rests."""
    thread = book.thread
    ended = book.turn(fact.turn_id or "")
    behind = ended.start_seq if ended is not None else 0
    following = book.next_in_line(behind) if thread.queued_turns else None
    if following is not None:
        _lead(thread, following, fact)
        if following.state == TurnState.PAUSED:
            # The queue stays parked behind it.
            thread.status, thread.runnable_since = ThreadStatus.PAUSED, None
        return
    failed = fact.type == FactType.TURN_FAILED
    thread.active_turn_id = None
    thread.status = ThreadStatus.FAILED if failed else ThreadStatus.IDLE
    thread.runnable_since = None


# --- Steering -------------------------------------------------------------------------------------


def _input_received(book: Book, fact: Fact) -> None:
    """A text for a turn that has begun or will: it is taken at the next safe point."""
    turn = _of_steering(book, fact)
    if turn is not None:
        turn.steering = codec.dumps([*codec.loads(turn.steering), fact.seq])


def _input_applied(book: Book, fact: Fact) -> None:
    turn = _of_steering(book, fact)
    if turn is not None:
        left = [seq for seq in codec.loads(turn.steering) if seq != fact.payload.get("seq")]
        turn.steering = codec.dumps(left)


def _of_steering(book: Book, fact: Fact) -> TurnRow | None:
    turn = book.turn(fact.turn_id) if fact.turn_id else None
    if turn is not None and TurnState(turn.state) in TERMINAL:
        raise TurnFinished(f"Turn {turn.id} has ended: {turn.state}.")
    return turn


# --- Runs -----------------------------------------------------------------------------------------


def _run_started(book: Book, fact: Fact) -> None:
    payload = fact.payload
    attempt = int(payload.get("attempt") or 1)
    book.add_run(
        RunRow(
            id=fact.run_id or "",
            thread_id=book.thread.id,
            turn_id=fact.turn_id,
            attempt=attempt,
            status=RunStatus.RUNNING,
            worker=plain(payload.get("worker") or ""),
            why=payload.get("why") or "",
            agent=codec.dumps(payload.get("agent")),
            started_at=fact.occurred_at,
            ended_at=None,
            reason=None,
            tokens_in=0,
            tokens_out=0,
            model_calls=0,
            first_error=None,
            start_seq=fact.seq,
            end_seq=None,
        )
    )
    book.thread.active_run_id = fact.run_id
    turn = move(book, fact, fact.type)
    if turn is None:
        return
    turn.attempts = attempt
    turn.started_at = turn.started_at or fact.occurred_at
    _go(book.thread, turn, fact.occurred_at)


def _stop_requested(book: Book, fact: Fact) -> None:
    move(book, fact, f"{fact.type}:{fact.payload.get('kind')}")


def _run_ended(book: Book, fact: Fact) -> None:
    run = book.run(fact.run_id or "")
    if run is None or run.status != RunStatus.RUNNING:
        return
    usage = fact.payload.get("usage") or {}
    reason = fact.payload.get("reason")
    run.status = fact.payload["status"]
    run.reason = None if reason is None else plain(str(reason), ERROR_LIMIT)
    run.ended_at = fact.occurred_at
    run.end_seq = fact.seq
    run.tokens_in = _count(usage.get("input"))
    run.tokens_out = _count(usage.get("output"))
    run.model_calls = _count(usage.get("calls"))
    book.thread.tokens += run.tokens_in + run.tokens_out
    if book.thread.active_run_id == run.id:
        book.thread.active_run_id = None


# --- Interactions ---------------------------------------------------------------------------------


def _interaction_requested(book: Book, fact: Fact) -> None:
    asked = fact.payload
    expires = asked.get("expires_at")
    book.add_interaction(
        InteractionRow(
            id=asked["interaction_id"],
            thread_id=book.thread.id,
            turn_id=fact.turn_id,
            run_id=fact.run_id,
            seq=fact.seq,
            kind=asked.get("kind") or "approval",
            tool=plain(asked.get("tool") or ""),
            call_id=plain(asked.get("call_id") or ""),
            input=codec.dumps(asked.get("input")),
            call_hash=asked.get("call_hash") or "",
            suggested_rules=codec.dumps(asked.get("suggested_rules") or []),
            choices=codec.dumps(asked.get("choices")),
            because=plain(asked.get("because") or ""),
            message=plain(asked.get("message") or ""),
            status=InteractionStatus.PENDING,
            decided_by=None,
            decided_at=None,
            reason=None,
            created_at=fact.occurred_at,
            expires_at=datetime.fromisoformat(expires) if expires else None,
        )
    )
    book.thread.pending_interactions += 1


def _interaction_resolved(book: Book, fact: Fact) -> None:
    answer = fact.payload
    asked = book.interaction(answer["interaction_id"])
    if asked is None:
        raise NotFound("There is no such interaction.")
    if asked.status != InteractionStatus.PENDING:
        raise AlreadyDecided(asked.decided_by or "", asked.decided_at or "an earlier time")
    reason = answer.get("reason")
    asked.status = STATUS_OF_DECISION[Decision(answer["decision"])]
    asked.decided_by = plain((answer.get("by") or {}).get("name") or "")
    asked.decided_at = fact.occurred_at
    asked.reason = None if reason is None else plain(reason)
    book.thread.pending_interactions -= 1
    turn = book.turn(asked.turn_id) if asked.turn_id else None
    if turn is not None:
        wake_when_answered(book, turn, fact.occurred_at)


def _recovered(book: Book, fact: Fact) -> None:
    """Recorded outcomes end the wait for them, a defined agent the wait for its definition."""
    if fact.turn_id is None:
        return
    told = _named(fact, REPAIR_RECONCILED, "call_id")
    defined = _named(fact, REPAIR_DEFINED, "agent_id")
    turn = book.turn(fact.turn_id) if told or defined else None
    if turn is None or TurnState(turn.state) not in WAITS:
        return
    known = told if turn.wait_kind == WaitKind.RECONCILE else defined
    left = [id_ for id_ in codec.loads(turn.wait_ids) if id_ not in known]
    if known and not left and turn.state == TurnState.WAITING:
        book.thread.runnable_since = fact.occurred_at
    turn.wait_ids = codec.dumps(left)


def _named(fact: Fact, kind: str, name: str) -> set[str]:
    repairs = fact.payload.get("repairs") or []
    return {repair[name] for repair in repairs if repair.get("kind") == kind}


HANDLERS: Mapping[str, Callable[[Book, Fact], None]] = {
    FactType.TURN_START: _turn_started,
    FactType.TURN_SUSPENDED: _turn_suspended,
    FactType.TURN_RESUMED: _turn_resumed,
    FactType.TURN_PAUSED: _turn_paused,
    FactType.RUN_START: _run_started,
    FactType.RUN_STOP_REQUESTED: _stop_requested,
    FactType.RUN_END: _run_ended,
    FactType.INTERACTION_REQUESTED: _interaction_requested,
    FactType.INTERACTION_RESOLVED: _interaction_resolved,
    FactType.RECOVERY_APPLIED: _recovered,
    FactType.INPUT_RECEIVED: _input_received,
    FactType.INPUT_APPLIED: _input_applied,
    **dict.fromkeys(TURN_ENDS, _turn_ended),
}
FOLDED_TYPES = frozenset(str(type_) for type_ in HANDLERS)
