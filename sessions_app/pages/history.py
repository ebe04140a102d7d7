"""The History tab: versions as rows, which two are chosen, and what may be done with one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse

from sessions_app.policies import FORK, RESTORE, lacking, may_thread
from sessions_app.selectors.checkpoint_words import changes_of, reason_of, title_of
from sessions_app.selectors.checkpoints import checkpoint_page
from sessions_app.selectors.lineage import forks_of, origin_of

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread
    from sessions_app.selectors.checkpoints import Checkpoint

ROWS = 25


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version in the list."""

    found: Checkpoint
    title: str
    reason: str
    changes: str
    mark: str
    """`A` or `B` while it is one of the two that are compared, else empty."""
    change_url: str

    @property
    def version(self) -> int:
        """Its number."""
        return self.found.version


@dataclass(frozen=True, slots=True)
class Chosen:
    """The two versions that are compared; none before a thread has one."""

    before: int | None = None
    after: int | None = None

    def mark(self, version: int) -> str:
        """Which of the two a version is."""
        return {self.after: "B", self.before: "A"}.get(version, "")


def history(
    actor: Actor, thread: AgentThread, chosen: Chosen, *, cursor: str | None, url: str
) -> dict[str, Any]:
    """The list of versions, and what the reader may do with them."""
    page = checkpoint_page(thread, cursor=cursor, limit=ROWS)
    rows = [_row(thread, found, chosen) for found in page.items]
    shown = {row.version for row in rows}
    picked = (("A", "a", chosen.before), ("B", "b", chosen.after))
    return {
        "rows": rows,
        "chosen": chosen,
        # What was chosen on another page of the list stays chosen.
        "elsewhere": [each for each in picked if each[2] is not None and each[2] not in shown],
        "older_url": f"{url}?{urlencode({'cursor': page.next_cursor})}" if page.next_cursor else "",
        "newer_url": url if cursor else "",
        "origin": origin_of(thread),
        "forks": [fork for fork in forks_of(thread.session) if fork.forked_from_id == thread.id],
        **may_act(actor, thread),
    }


def may_act(actor: Actor, thread: AgentThread) -> dict[str, Any]:
    """Whether the reader may restore and fork, and the permissions that are missing."""
    allowed = {name: may_thread(actor, name, thread) for name in (RESTORE, FORK)}
    return {
        "may_restore": allowed[RESTORE],
        "may_fork": allowed[FORK],
        "missing": list(
            dict.fromkeys(lacking(thread, name) for name, may in allowed.items() if not may)
        ),
    }


def _row(thread: AgentThread, found: Checkpoint, chosen: Chosen) -> VersionRow:
    return VersionRow(
        found,
        title_of(found),
        reason_of(found),
        ", ".join(changes_of(found)),
        chosen.mark(found.version),
        reverse("thread_compare", args=[thread.id, found.version - 1, found.version]),
    )
