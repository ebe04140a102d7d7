"""The versions of a thread's state: who made each, when, why, what it changed, what it weighs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import Case, Count, F, IntegerField, Max, Q, Sum, Value, When
from django.db.models.functions import Substr

from agentadmin.engine.errors import BadCursor
from agentadmin.engine.journal.facts import FactType
from sessions_app.journal.octets import Octets
from sessions_app.journal.rows import read_facts
from sessions_app.journal.store import snapshot_rows
from sessions_app.models import JournalFact, Payload, StateSnapshot
from sessions_app.selectors.paging import DEFAULT_LIMIT, Page, checked_limit
from sessions_app.selectors.widened import widened_versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentadmin.engine.journal.facts import Fact
    from sessions_app.models import AgentThread

_TOLD = (
    FactType.STATE_CHANGED,
    FactType.STATE_RESTORED,
    FactType.PERMISSION_CHANGED,
    FactType.BASELINE,
)
"""Facts that are read whole: what they changed stands in their payload."""
_MOST_DIGITS = 15
_HEAD = 120
_REASON = re.compile(r'\{"reason":"([^"\\]*)"')


class CheckpointKind(StrEnum):
    """What made a version."""

    RUN = "run"
    EDIT = "edit"
    IMPORT = "import"
    RESTORE = "restore"
    FORK = "fork"
    REPAIR = "repair"


@dataclass(frozen=True, slots=True)
class FactGroup:
    """The facts of one type that led to a version: how many, how long, of which run."""

    count: int
    octets: int
    run_id: str | None
    turn_id: str | None
    head: str
    """How the payload begins, of the last one in the alphabet; empty for a long payload."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One committed version, with what it added to the one before it."""

    row: StateSnapshot
    groups: Mapping[str, FactGroup]
    told: Mapping[str, Fact]
    """The last fact of each type that was read whole."""
    messages_delta: int
    tokens_delta: int
    octets: int
    """What it made the journal grow by: its facts, and the substate where that changed."""
    widened: tuple[str, ...] = ()
    """In which ways calls may pass that did not pass before."""

    @property
    def version(self) -> int:
        """Its number."""
        return self.row.version

    @property
    def kind(self) -> CheckpointKind:
        """What made it, told from its facts."""
        source = self.source
        if source is not None:
            return CheckpointKind.FORK if source == "fork" else CheckpointKind.IMPORT
        if FactType.STATE_RESTORED in self.groups:
            return CheckpointKind.RESTORE
        if FactType.RECOVERY_APPLIED in self.groups:
            return CheckpointKind.REPAIR
        return CheckpointKind.RUN if self.run_id else CheckpointKind.EDIT

    @property
    def source(self) -> str | None:
        """Where the whole state came from, for an imported or forked one."""
        told = self.told.get(FactType.BASELINE)
        source = told.payload.get("source") if told else None
        return source if isinstance(source, str) and source != "new" else None

    @property
    def restored_version(self) -> int | None:
        """The version that a restore brought back."""
        told = self.told.get(FactType.STATE_RESTORED)
        return told.payload.get("version") if told else None

    @property
    def replaced_by(self) -> str:
        """Which operation replaced the working context; empty where none did."""
        group = self.groups.get(FactType.CONTEXT_REPLACED)
        found = _REASON.match(group.head) if group else None
        return found[1] if found else ""

    @property
    def run_id(self) -> str | None:
        """The run that made it: one that did more than pass an edit on."""
        found = (group.run_id for type_, group in self.groups.items() if type_ in _OF_RUNS)
        return next((run_id for run_id in found if run_id), None)

    @property
    def turn_id(self) -> str | None:
        """The turn of that run."""
        found = (group.turn_id for type_, group in self.groups.items() if type_ in _OF_RUNS)
        return next((turn_id for turn_id in found if turn_id), None) if self.run_id else None


_OF_RUNS = (
    FactType.RUN_START,
    FactType.RUN_END,
    FactType.REQUEST_PREPARED,
    FactType.TOOL_DECISION,
    FactType.TOOL_DISPATCH,
    FactType.TOOL_RESULT,
    FactType.INTERACTION_REQUESTED,
    FactType.TURN_SUSPENDED,
    FactType.TURN_RESUMED,
    FactType.TURN_COMPLETED,
    FactType.TURN_FAILED,
    FactType.TURN_PAUSED,
    FactType.TURN_CANCELLED,
)


def checkpoint_page(
    thread: AgentThread, *, cursor: str | None = None, limit: int = DEFAULT_LIMIT
) -> Page[Checkpoint]:
    """The versions of a thread, newest first; the cursor is the last version of a page."""
    checked_limit(limit)
    rows = snapshot_rows(thread.id).defer("substate")
    if cursor:
        rows = rows.filter(version__lt=_version_in(cursor))
    # One more than shown: the oldest shown one is told by what it added to the one before it.
    found: list[StateSnapshot] = list(rows[: limit + 1])
    items = _checkpoints(thread, found[:limit], found[limit:])
    return Page(items, str(items[-1].version) if len(found) > limit else None)


def checkpoint(thread: AgentThread, version: int) -> Checkpoint | None:
    """One version; None where the thread has none of this number."""
    rows = snapshot_rows(thread.id).defer("substate").filter(version__lte=version)
    found = list(rows[:2]) if 0 < version <= thread.version else []
    if not found or found[0].version != version:
        return None
    return _checkpoints(thread, found[:1], found[1:])[0]


def _version_in(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _MOST_DIGITS):
        raise BadCursor("The cursor is not one that this list gave.", path="cursor")
    return int(cursor)


def _checkpoints(
    thread: AgentThread, rows: Sequence[StateSnapshot], before: Sequence[StateSnapshot]
) -> list[Checkpoint]:
    """`before` holds the version under the last row, unless that is the first one."""
    if not rows:
        return []
    start = before[0].seq if before else 0
    # A version's own facts have its time: what came between two versions belongs to neither.
    times = [row.created_at for row in rows]
    span = Q(thread_id=thread.id, seq__gt=start, seq__lte=rows[0].seq, occurred_at__in=times)
    groups, told, weights = _groups(span, rows), _told(span, rows), _substates(rows)
    wider = widened_versions(thread.id, told, before[0].version if before else None)
    found = []
    for row, previous in zip(rows, (*rows[1:], *before, None), strict=False):
        here = groups.get(row.version, {})
        found.append(
            Checkpoint(
                row,
                here,
                told.get(row.version, {}),
                row.messages - (previous.messages if previous else 0),
                row.tokens - (previous.tokens if previous else 0),
                sum(group.octets for group in here.values()) + weights.get(row.version, 0),
                wider.get(row.version, ()),
            )
        )
    return found


def _groups(span: Q, rows: Sequence[StateSnapshot]) -> dict[int, dict[str, FactGroup]]:
    """Facts by version and type; one statement, however many facts a version has."""
    facts = JournalFact.objects.filter(span).annotate(version=_version_of(rows))
    counted = facts.values("version", "type").annotate(
        count=Count("seq"),
        octets=Sum(Octets("payload")),
        run=Max("run_id"),
        turn=Max("turn_id"),
        head=Max(Substr("payload", 1, _HEAD)),
    )
    outside = _outside(span, rows)
    found: dict[int, dict[str, FactGroup]] = {}
    for each in counted:
        version, type_ = each["version"], each["type"]
        octets = (each["octets"] or 0) + outside.get((version, type_), 0)
        head = each["head"] or ""
        group = FactGroup(each["count"], octets, each["run"], each["turn"], head)
        found.setdefault(version, {})[type_] = group
    return found


def _version_of(rows: Sequence[StateSnapshot]) -> Case:
    """The version that a fact led to: the first whose seq is not before it."""
    whens = [When(seq__lte=row.seq, then=Value(row.version)) for row in reversed(rows)]
    return Case(*whens, output_field=IntegerField())


def _outside(span: Q, rows: Sequence[StateSnapshot]) -> dict[tuple[int, str], int]:
    """What the payloads weigh that stand outside of the journal's rows."""
    long = JournalFact.objects.filter(span, payload__isnull=True)
    commits = {
        bytes(commit): (_version_at(rows, seq), type_)
        for seq, type_, commit in long.values_list("seq", "type", "payload_commit")
    }
    if not commits:
        return {}
    kept = Payload.objects.filter(thread_id=rows[0].thread_id, commit__in=list(commits))
    found: dict[tuple[int, str], int] = {}
    for commit, octets in kept.annotate(octets=Octets("text")).values_list("commit", "octets"):
        place = commits[bytes(commit)]
        found[place] = found.get(place, 0) + (octets or 0)
    return found


def _version_at(rows: Sequence[StateSnapshot], seq: int) -> int:
    """The version that the commit of a fact made; rows are newest first."""
    return min(row.version for row in rows if row.seq >= seq)


def _told(span: Q, rows: Sequence[StateSnapshot]) -> dict[int, dict[str, Fact]]:
    facts = read_facts(span & Q(type__in=_TOLD), len(rows) * len(_TOLD))
    found: dict[int, dict[str, Fact]] = {}
    for fact in facts:
        found.setdefault(_version_at(rows, fact.seq), {})[fact.type] = fact
    return found


def _substates(rows: Sequence[StateSnapshot]) -> dict[int, int]:
    """What the substates weigh that these versions hold themselves."""
    held = StateSnapshot.objects.filter(
        thread_id=rows[0].thread_id,
        version__gte=rows[-1].version,
        version__lte=rows[0].version,
        version=F("substate_version"),
    )
    return dict(held.annotate(octets=Octets("substate")).values_list("version", "octets"))
