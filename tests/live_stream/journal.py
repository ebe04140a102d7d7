"""Threads and facts for the live tests, written through the real journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from asgiref.sync import async_to_sync

from agentadmin.engine.events import WireDelta
from agentadmin.engine.identity import ThreadKey
from agentadmin.engine.journal.base import Batch, CommitKind, ThreadRef
from agentadmin.engine.journal.facts import Fact, NewFact
from runs_app import stream
from sessions_app.journal import DjangoThreadJournal, Projector

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = "0197-run"


def new_thread(**identity: str) -> ThreadRef:
    """A fresh thread."""
    named = {"namespace": "default", "agent_id": "demo", **identity}
    key = ThreadKey(named["namespace"], named.get("user_id"), uuid4().hex, named["agent_id"])
    return async_to_sync(DjangoThreadJournal().ensure)(key)


def commit(
    ref: ThreadRef, facts: Sequence[NewFact], *, projector: Projector | None = None
) -> Sequence[Fact]:
    """Commit facts and publish nothing."""
    sealed = [fact.seal() for fact in facts]
    return (
        DjangoThreadJournal(projector=projector)
        .commit_now(ref, Batch(CommitKind.QUEUE, sealed))
        .facts
    )


def say(text: str, *, type_: str = "state/changed", step: str | None = None) -> NewFact:
    """A fact that carries a text."""
    return NewFact(type_, {"text": text}, turn_id="t1", run_id=RUN, step_id=step)


def commit_and_publish(ref: ThreadRef, *texts: str) -> Sequence[Fact]:
    """Commit one fact per text, then publish them as a service does."""
    facts = commit(ref, [say(text) for text in texts])
    stream.publish_facts(ref, facts)
    return facts


def delta(
    text: str, offset: int, *, block: str = f"{RUN}/1/1", type_: str = "text_block_delta"
) -> WireDelta:
    """A piece of a block's text."""
    return WireDelta(type_, {"block": block, "offset": offset, "delta": text}, "1")


def send_text(ref: ThreadRef, text: str, *, start: int = 0, block: str = f"{RUN}/1/1") -> None:
    """Stream a text character by character."""
    for index, character in enumerate(text):
        piece: Any = delta(character, start + index, block=block)
        stream.writer.delta(ref.id, piece, RUN, "t1")
