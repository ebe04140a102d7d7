"""The erasure of a session: what was said goes everywhere, that it happened stays provable.

Facts become tombstones; documents, substates, rows, audit bodies, streams and files go.
Commitments, hashes and order stay, so journal and audit log still verify. Every step may be done
twice.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.db.models import Q

from agentadmin import redis
from agentadmin.access.actor import Actor
from agentadmin.audit.append import append
from agentadmin.audit.erase import erase_bodies
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.engine.clock import iso, now
from agentadmin.engine.errors import Conflict, ThreadBusy
from agentadmin.engine.state import codec
from runs_app.jobs.erasing_rows import erase_rows
from runs_app.jobs.old_bytes import drop_old_bytes
from runs_app.live.wire import stream_key
from runs_app.models import Turn
from runs_app.services.cancel import cancel_turn
from runs_app.states import TERMINAL, TurnState
from sessions_app import mailbox
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.erasing import erase_documents, erase_facts, erase_substates
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentSession, AgentThread, Job, JournalFact
from sessions_app.states import JobState

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import Lease
    from runs_app.jobs.progress import Progress

BATCH = 200
PATIENCE = 60.0
"""Seconds that a run has to let go of its thread."""
LEASE = 120.0
STEP = 0.25
NAME = "erasure"
REASON = "the session is erased"


def erase(progress: Progress) -> None:
    """Erase the job's session; raises Conflict when a run does not let go."""
    job = progress.job
    progress.say("Stopping what runs")
    threads = list(AgentThread.objects.select_related("session").filter(session=job.session))
    held = [(thread, _hold(progress, thread)) for thread in threads]
    progress.say("Erasing the journal")
    counted = _erase_journal(progress, held)
    progress.say("Erasing rows, streams and files")
    for thread, _ in held:
        counted["rows"] += erase_rows(thread)
        _erase_outside(thread)
    _finish(progress, held, counted)
    drop_old_bytes()


def give_up_erasing(job: Job) -> None:
    """A job that failed before it had erased anything leaves the session as it was."""
    if job.total == 0:
        AgentSession.objects.filter(id=job.session_id, erased_at=None).update(erasing_since=None)


def _hold(progress: Progress, thread: AgentThread) -> Lease:
    """Cancel what is unfinished, wait for the run, and take the thread from every other writer."""
    deadline = time.monotonic() + PATIENCE
    journal, ref, owner = thread_journal(), thread_ref(thread), f"{NAME}:{progress.job.id}"
    # An attempt whose worker died still holds it; should it live on, the new epoch stops it.
    mine = AgentThread.objects.filter(id=thread.id, lease_owner=owner)
    mine.update(lease_owner=None, lease_until=None)
    while True:
        _cancel_all(thread)
        if not _unfinished(thread).exists():
            try:
                return async_to_sync(journal.claim)(ref, owner, LEASE)
            except ThreadBusy:
                pass
        if time.monotonic() > deadline:
            raise Conflict("A run of this session did not stop in time; nothing was erased.")
        progress.say("Stopping what runs")
        time.sleep(STEP)


def _unfinished(thread: AgentThread) -> Any:
    return Turn.objects.filter(thread=thread).exclude(state__in=TERMINAL)


def _cancel_all(thread: AgentThread) -> None:
    """The last one first, so that none of them begins meanwhile."""
    going = _unfinished(thread).exclude(state=TurnState.CANCELLING).order_by("-start_seq")
    for turn_id in going.values_list("id", flat=True):
        try:
            cancel_turn(actor=Actor.system(NAME), turn_id=turn_id, reason=REASON)
        except Conflict:
            # It ended, or moved on, between the look and the act; the next look sees it.
            continue


def _erase_journal(progress: Progress, held: list[tuple[AgentThread, Lease]]) -> dict[str, int]:
    ids = [thread.id for thread, _ in held]
    total = _with_content(ids).count()
    done = 0
    progress.count(done, max(total, 1))
    for thread, lease in held:
        while seqs := _next_seqs(thread):
            done += erase_facts(thread.id, seqs)
            progress.count(done, max(total, done, 1))
            async_to_sync(thread_journal().renew)(thread_ref(thread), lease, LEASE)
    documents = sum(erase_documents(id_) for id_ in ids)
    substates = sum(erase_substates(id_) for id_ in ids)
    return {"facts": done, "documents": documents, "substates": substates, "rows": 0}


def _with_content(ids: list[Any]) -> Any:
    return JournalFact.objects.filter(thread_id__in=ids, salt__isnull=False)


def _next_seqs(thread: AgentThread) -> list[int]:
    facts = _with_content([thread.id]).order_by("seq")
    return list(facts.values_list("seq", flat=True)[:BATCH])


def _erase_outside(thread: AgentThread) -> None:
    """The live stream and the thread's files; neither is needed for any proof."""
    with redis.commands_sync() as client:
        client.delete(stream_key(str(thread.id)))
    folder = settings.DATA / "workspaces" / thread_ref(thread).key.identity_hash()[:32]
    if folder.exists():
        shutil.rmtree(folder)


@transaction.atomic
def _finish(
    progress: Progress, held: list[tuple[AgentThread, Lease]], counted: dict[str, int]
) -> None:
    """Take the names off the rows and leave a certificate; the audit entry comes last."""
    job = progress.job
    for thread, lease in held:
        # A message that came in at the very end is erased like the others.
        AgentThread.objects.select_for_update().get(id=thread.id)
        while seqs := _next_seqs(thread):
            counted["facts"] += erase_facts(thread.id, seqs)
        _release(thread, lease)
    at = now()
    AgentSession.objects.filter(id=job.session_id).update(
        user_id=None,
        session_id=f"erased-{job.session_id}",
        identity_hash=codec.sha256(f"erased {job.session_id}"),
        erased_at=at,
        updated_at=at,
    )
    within = Q(within=str(job.session_id))
    counted["audit_bodies"] = erase_bodies(within)
    certificate = {"erased_at": iso(at), "erased": counted, "heads": _heads(job)}
    Job.objects.filter(id=job.id).update(
        state=JobState.COMPLETED, ended_at=at, step="", result=codec.dumps(certificate)
    )
    append(_entry(job, certificate))


def _release(thread: AgentThread, lease: Lease) -> None:
    threads = AgentThread.objects.filter(id=thread.id, lease_epoch=lease.epoch)
    threads.update(
        lease_owner=None,
        lease_until=None,
        identity_hash=codec.sha256(f"erased {thread.id}"),
        thread_id=f"erased-{thread.id}",
        runnable_since=None,
    )


def _heads(job: Job) -> dict[str, int]:
    """How many facts each thread's journal proves."""
    rows = AgentThread.objects.filter(session_id=job.session_id).values_list("id", "head_seq")
    return {str(id_): seq for id_, seq in rows}


def _entry(job: Job, certificate: dict[str, Any]) -> NewEntry:
    session = str(job.session_id)
    target = Target(
        kind="session", id=session, within=session, agent_id=job.session.agent_id, label=session
    )
    return NewEntry(
        namespace=job.session.namespace,
        actor=mailbox.actor_from(job.actor),
        action="sessions.erase",
        target=target,
        outcome=Outcome.ALLOWED,
        reason=job.reason,
        content={"job_id": str(job.id), **certificate},
    )
