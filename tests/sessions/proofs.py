"""What must hold of a journal after anything: every version folds to what its digest proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from django.apps import apps

from agentadmin.audit.verify import verify
from agentadmin.engine.journal.loading import load
from agentadmin.engine.journal.projection import digest
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref

if TYPE_CHECKING:
    from sessions_app.models import AgentThread


def everything_stored() -> str:
    """Every value of every table, as text."""
    found = [
        str(value)
        for model in apps.get_models()
        if model._meta.app_label in {"sessions_app", "runs_app", "audit"}
        for row in model.objects.values_list()  # type: ignore[attr-defined]
        for value in row
    ]
    return "\n".join(found)


def check_proofs(thread: AgentThread) -> None:
    """Every version still folds to what its digest proves."""
    ref = thread_ref(thread)
    for version in range(1, thread.version + 1):
        projection = async_to_sync(load)(thread_journal(), ref, version)
        snapshot = async_to_sync(thread_journal().snapshot)(ref, version)
        assert snapshot is not None
        proof = digest(version, snapshot.substate_commit, projection.items.values())
        assert proof == snapshot.digest
    assert verify()["ok"]
