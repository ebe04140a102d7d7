"""`update_agent_state`: the one way to change a state from outside a call (design §5)."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db import IntegrityError

from agentadmin.engine.errors import StaleVersion, ThreadBusy
from agentadmin.engine.journal.loading import load
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.state.mutations import diff
from sessions_app.journal.cache import ProjectionCache, current
from sessions_app.journal.configured import agent_permissions, thread_journal
from sessions_app.journal.entering import entered
from sessions_app.journal.rows import thread_ref
from sessions_app.journal.store import active_run
from sessions_app.services.busy import interrupt_for_edit, wait_for_edit
from sessions_app.services.edits import Edit, authorise_change, require_change
from sessions_app.services.idempotency import Answer, Once
from sessions_app.services.outcome import Outcome, UpdateRows, answered
from sessions_app.services.reasons import checked_reason
from sessions_app.services.resolving import Ground, resolved_change

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.base import ThreadRef
    from agentadmin.engine.journal.projection import ThreadProjection
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.permissions import PermissionContext
    from sessions_app.models import AgentThread
    from sessions_app.services.edits import Change

ATTEMPTS = 10

_recent = ProjectionCache(threads=64, messages=20_000)
"""Threads that this process edited lately: the next edit reads only what came after."""


class OnBusy(StrEnum):
    """What to do while a run holds the thread."""

    REJECT = "reject"
    WAIT = "wait"
    INTERRUPT = "interrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One checked request to change one thread's state."""

    actor: Actor
    thread: AgentThread
    edit: Edit
    reason: str
    expected_version: int | None
    defaults: PermissionContext | None
    """What the agent may do, where no state was ever committed."""

    def starting(self, projection: ThreadProjection, state: AgentState | None = None) -> AgentState:
        """The state that the operations start from, read out of the projection if not given."""
        state = state or projection.state()
        if self.defaults is not None and not projection.substate:
            state.permission_context = self.defaults
        return state


def update_agent_state(
    *,
    actor: Actor,
    thread: AgentThread,
    reason: Any,
    operations: Any,
    expected_version: int | None = None,
    on_busy: str = OnBusy.REJECT,
    dry_run: bool = False,
    request_id: str | None = None,
) -> Answer:
    """Change a thread's state by named operations, all of them or none.

    200 with `{version, seq, audit_id, diff, effects}`, or 202 with `{control_id}` when a run holds
    the thread and `on_busy` is not `reject`. Raises what the contract lists under `operations`.
    """
    update = Update(
        actor=actor,
        thread=thread,
        edit=Edit.parse(operations),
        reason=checked_reason(reason),
        expected_version=expected_version,
        defaults=agent_permissions(thread.agent_id) if thread.version == 0 else None,
    )
    update.edit.authorise(actor, thread)
    if dry_run:
        return entered(_rehearse)(update)
    once = _once(update, on_busy, request_id)
    if first := once.answered():
        return answered(first, thread)
    try:
        return _update(update, once, OnBusy(on_busy))
    except IntegrityError:
        # The same request came twice at the same time; the first one's answer is the answer.
        if first := once.answered():
            return answered(first, thread)
        raise


def _once(update: Update, on_busy: str, request_id: str | None) -> Once:
    body = {
        "reason": update.reason,
        "operations": list(update.edit.operations),
        "expected_version": update.expected_version,
        "on_busy": str(on_busy),
    }
    target = str(update.thread.id)
    return Once.of(update.actor, "updateAgentState", target, request_id, body)


def _update(update: Update, once: Once, on_busy: OnBusy) -> Answer:
    """Commit; who loses a race without an expected version reads, authorises and tries again."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return entered(_commit)(update, once)
        except ThreadBusy as busy:
            if on_busy is OnBusy.REJECT:
                raise
            return _leave_to_run(update, once, on_busy, busy.run_id)
        except StaleVersion as stale:
            if update.expected_version is not None:
                raise _with_diff(stale, update) from None
            if attempt == ATTEMPTS:
                raise
            # Losers that come back together would lose together again.
            time.sleep(secrets.randbelow(1000) * 2e-6 * attempt)
    raise AssertionError("every attempt returns or raises")


def _leave_to_run(update: Update, once: Once, on_busy: OnBusy, run_id: str | None) -> Answer:
    """Try the operations on the newest state: what is wrong is said now. Then leave them."""
    projection, change = entered(_tried)(update)
    authorise_change(update.actor, update.thread, change)
    base = update.edit.base(projection)
    if on_busy is OnBusy.INTERRUPT:
        return interrupt_for_edit(update, once, base, run_id)
    return wait_for_edit(update, once, base)


async def _commit(update: Update, once: Once) -> Answer:
    journal, ref = thread_journal(), thread_ref(update.thread)
    projection = await current(_recent, journal, ref)
    writer = JournalWriter(journal, projection, lease=None, actor=update.actor.name)
    _check_version(writer.projection.version, update)
    if writer.projection.uncertain or writer.projection.pending:
        # Under a live run these are its own business; without one they refuse the edit.
        if (await journal.head(ref)).live:
            raise ThreadBusy(await _run_of(ref))
        update.edit.check_parked(writer.projection)
    ground = _ground(update, projection, update.starting(projection, writer.state))
    change = await resolved_change(update.edit, ground)
    authorise_change(update.actor, update.thread, change)
    writer.state = change.after
    writer.replace_reason = update.edit.name
    writer.refer_to(change.items)
    rows = UpdateRows(update, change, once)
    reason = update.edit.why(update.reason)
    await writer.flush(change.notes, reason=reason, rows=rows.actions())
    _recent.put(projection)
    return Answer(200, rows.outcome.body())


def _ground(update: Update, projection: ThreadProjection, state: AgentState) -> Ground:
    return Ground(
        actor=update.actor,
        thread=update.thread,
        journal=thread_journal(),
        projection=projection,
        state=state,
    )


async def _tried(update: Update) -> tuple[ThreadProjection, Change]:
    """What the operations would do to the newest committed state; nothing is written."""
    projection = await load(thread_journal(), thread_ref(update.thread))
    _check_version(projection.version, update)
    ground = _ground(update, projection, update.starting(projection))
    ground.is_rehearsal = True
    return projection, await resolved_change(update.edit, ground)


async def _rehearse(update: Update) -> Answer:
    """What the update would do; nothing is written."""
    journal, ref = thread_journal(), thread_ref(update.thread)
    head = await journal.head(ref)
    projection, change = await _tried(update)
    require_change(update.actor, update.thread, change)
    if not head.live:
        update.edit.check_parked(projection)
    busy = [_holder(await _run_of(ref))] if head.live else []
    effects = [*busy, *change.effects]
    outcome = Outcome(projection.version, projection.seq, change.diff, effects)
    return Answer(200, {**outcome.body(), "dry_run": True, "widens": change.widens})


def _holder(run_id: str | None) -> str:
    return f"Run {run_id} works on this thread now." if run_id else "A run is starting."


def _check_version(version: int, update: Update) -> None:
    if update.expected_version is not None and update.expected_version != version:
        raise StaleVersion(version)


async def _run_of(ref: ThreadRef) -> str | None:
    """The run that holds the thread; between claim and `run/start` the holder has none yet."""
    return await sync_to_async(active_run)(ref.id)


def _with_diff(stale: StaleVersion, update: Update) -> StaleVersion:
    """The same refusal with what has changed since the version that the caller knew."""
    return StaleVersion(stale.current, entered(_changed_since)(update, stale.current))


async def _changed_since(update: Update, current: int) -> dict[str, Any]:
    known = update.expected_version or 0
    if not 0 < known < current:
        return {}
    journal, ref = thread_journal(), thread_ref(update.thread)
    old, new = await load(journal, ref, known), await load(journal, ref, current)
    return diff(old.state(), new.state())
