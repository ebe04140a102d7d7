"""Waking the turns that waited for their agent: it is defined by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.dispatch import dispatch_on_commit
from runs_app.fold import REPAIR_DEFINED
from runs_app.models import Turn
from runs_app.services.commits import append_facts, locked
from runs_app.states import TurnState, WaitKind

if TYPE_CHECKING:
    from collections.abc import Collection


def wake_defined(agent_ids: Collection[str]) -> int:
    """Let the turns of these agents go on; how many there were."""
    waiting = Turn.objects.select_related("thread").filter(
        state=TurnState.WAITING,
        wait_kind=WaitKind.DEFINITION,
        thread__agent_id__in=list(agent_ids),
        thread__runnable_since=None,
    )
    turns = list(waiting)
    for turn in turns:
        _wake(turn)
    return len(turns)


@transaction.atomic
def _wake(turn: Turn) -> None:
    thread = locked(turn.thread)
    turn.refresh_from_db(fields=["wait_kind"])
    if turn.wait_kind != WaitKind.DEFINITION or thread.runnable_since is not None:
        return
    note = {"kind": REPAIR_DEFINED, "agent_id": thread.agent_id, "note": "the agent is defined"}
    append_facts(thread, NewFact(FactType.RECOVERY_APPLIED, {"repairs": [note]}, turn.id))
    dispatch_on_commit(str(thread.id))
