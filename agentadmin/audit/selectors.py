"""Reads of the audit log, always within what the reader may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import UUID

from django.db.models import Q

from agentadmin.access.errors import Hidden
from agentadmin.audit.check import ChainCheck, Stored, Verdict
from agentadmin.audit.format import Outcome, Target, column_text
from agentadmin.audit.models import AuditEntry
from agentadmin.audit.verify import verify
from agentadmin.engine.clock import iso
from agentadmin.engine.errors import BadCursor, InvalidInput, NotFound
from agentadmin.engine.state.codec import loads

if TYPE_CHECKING:
    from django.db.models import QuerySet

READ = "audit:read"
VERIFY = "audit:verify"
EXPORT = "audit:export"
MAX_LIMIT = 200
MOST_RELATED = 10
# What `target=<id>` may mean, beside everything that lies within it.
KINDS = ("session", "thread", "turn", "run", "interaction", "control", "agent", "user", "token")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LISTED = (
    *("id", "chain", "n", "at", "namespace", "actor", "actor_id", "action", "target"),
    *("target_label", "within", "agent_id", "outcome", "reason", "trace_id"),
)


class Reader(Protocol):
    """Who reads: `agentadmin.access.Actor`, as far as this module needs it."""

    def require(self, permission: str) -> None:
        """Raise unless the reader holds the permission somewhere."""

    def visible(self, permission: str, *, namespace: str, agent: str | None) -> Q:
        """The rows on which the reader holds the permission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a reader looks for; empty means anything."""

    q: str = ""
    actor: str = ""
    action: str = ""
    target: str = ""
    outcome: str = ""
    within: str = ""
    since: datetime | None = None
    until: datetime | None = None


class Page(NamedTuple):
    """Some entries, newest first, and where the next ones begin."""

    items: list[AuditEntry]
    next_cursor: str | None


def audit_page(
    reader: Reader, filters: Filters, *, cursor: str | None = None, limit: int = 50
) -> Page:
    """One page of the entries that the reader may see; bodies are not loaded."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"must be from 1 to {MAX_LIMIT}", path="limit")
    rows = visible(reader, READ).filter(matching(filters))
    if cursor:
        rows = rows.filter(id__lt=_parse_cursor(cursor))
    found = list(rows.order_by("-id").only(*_LISTED)[: limit + 1])
    items = found[:limit]
    return Page(items, str(items[-1].id) if len(found) > limit else None)


def entry_detail(reader: Reader, entry_id: str) -> AuditEntry:
    """One entry, whole; one that the reader may not see is not found, and the attempt audited."""
    try:
        wanted = UUID(entry_id)
    except ValueError:
        raise NotFound from None
    entry = visible(reader, READ).filter(id=wanted).first()
    if entry is not None:
        return entry
    hidden = AuditEntry.objects.filter(id=wanted).first()
    if hidden is None:
        raise NotFound
    target = Target(kind="audit", id=str(wanted), within=hidden.within, agent_id=hidden.agent_id)
    raise Hidden(namespace=hidden.namespace, target=target)


def list_item(entry: AuditEntry) -> dict[str, Any]:
    """What a list shows of an entry: columns only."""
    item: dict[str, Any] = {name: getattr(entry, name) for name in _LISTED}
    return item | {"id": str(entry.id), "at": iso(entry.at)}


def entry_document(entry: AuditEntry) -> dict[str, Any]:
    """Everything an entry says, erased parts as None."""
    header: dict[str, Any] = loads(entry.header)
    body: dict[str, Any] = loads(entry.body) if entry.body is not None else {}
    return header | {
        "reason": body.get("reason"),
        "target": header["target"] | {"label": body.get("target_label")},
        "subject": body.get("subject"),
        "address": body.get("address"),
        "request_id": body.get("request_id"),
        "content": body.get("content"),
        "erased": entry.body is None,
        "body_commit": entry.body_commit,
        "prev_hash": entry.prev_hash,
        "hash": entry.hash,
    }


def proof_of(entry: AuditEntry) -> str | None:
    """What speaks against an entry, looked at by itself; None where its hashes are right."""
    salt = None if entry.salt is None else bytes(entry.salt)
    stored = Stored(
        entry.n,
        entry.header,
        entry.body,
        salt,
        entry.body_commit,
        entry.prev_hash,
        entry.hash,
    )
    return ChainCheck(entry.chain, Verdict(), n=entry.n - 1, head=entry.prev_hash).step(stored)


def neighbours(reader: Reader, entry: AuditEntry) -> tuple[AuditEntry | None, AuditEntry | None]:
    """The entries before and after it in its chain, where the reader may see them."""
    near = visible(reader, READ).filter(chain=entry.chain, n__in=(entry.n - 1, entry.n + 1))
    found = {one.n: one for one in near.only("id", "n")}
    return found.get(entry.n - 1), found.get(entry.n + 1)


def same_request(reader: Reader, entry: AuditEntry) -> list[AuditEntry]:
    """What else the same request has done, in its order."""
    if not entry.trace_id or entry.trace_id == "-":
        return []
    rows = visible(reader, READ).filter(trace_id=entry.trace_id).exclude(pk=entry.pk)
    return list(rows.order_by("id").only(*_LISTED)[:MOST_RELATED])


def same_target(reader: Reader, entry: AuditEntry) -> list[AuditEntry]:
    """What was done to the same thing before, the newest first."""
    same = Q(target=entry.target)
    if not has_target_id(entry):
        # It is known by its label alone; once that is erased, by nothing.
        if not entry.target_label:
            return []
        same &= Q(target_label=entry.target_label)
    rows = visible(reader, READ).filter(same, id__lt=entry.pk)
    return list(rows.order_by("-id").only(*_LISTED)[:MOST_RELATED])


def has_target_id(entry: AuditEntry) -> bool:
    """Whether the target is one thing; `route:` alone is every address without an id."""
    return not entry.target.endswith(":")


def visible_chains(reader: Reader, permission: str) -> list[str]:
    """The chains of which the reader may see some entries."""
    rows = visible(reader, permission).order_by("chain").values_list("chain", flat=True)
    return list(rows.distinct())


def verify_visible(reader: Reader) -> dict[str, Any]:
    """Verify the chains of the reader's namespaces."""
    reader.require(VERIFY)
    return verify(chains=visible_chains(reader, VERIFY))


def visible(reader: Reader, permission: str) -> QuerySet[AuditEntry]:
    """The entries on which the reader holds the permission; without it anywhere: refused."""
    reader.require(permission)
    return AuditEntry.objects.filter(
        reader.visible(permission, namespace="namespace", agent="agent_id")
    )


def matching(filters: Filters) -> Q:
    """The filters as a condition; ids begin with the time, so that the key serves for it."""
    wanted = Q()
    if filters.since:
        wanted &= Q(id__gte=_first_id(filters.since))
    if filters.until:
        wanted &= Q(id__lt=_first_id(filters.until))
    if filters.outcome:
        if filters.outcome not in set(Outcome):
            raise InvalidInput(f"must be one of {', '.join(Outcome)}", path="outcome")
        wanted &= Q(outcome=filters.outcome)
    for name in ("actor", "action", "within"):
        if value := getattr(filters, name):
            wanted &= Q(**{name: column_text(value)})
    if filters.target:
        wanted &= _on_target(column_text(filters.target))
    for word in column_text(filters.q).split():
        wanted &= _containing(word)
    return wanted


def _first_id(at: datetime) -> UUID:
    """No id of this moment or later is smaller."""
    moment = at if at.tzinfo else at.replace(tzinfo=UTC)
    milliseconds = max(0, (moment - _EPOCH) // timedelta(milliseconds=1))
    return UUID(int=milliseconds << 80)


def _on_target(target: str) -> Q:
    if ":" in target:
        return Q(target=target)
    return Q(within=target) | Q(target__in=[f"{kind}:{target}" for kind in KINDS])


def _containing(word: str) -> Q:
    fields = ("reason", "actor", "action", "target", "target_label", "trace_id")
    found = Q()
    for field in fields:
        found |= Q(**{f"{field}__icontains": word})
    return found


def _parse_cursor(cursor: str) -> UUID:
    try:
        return UUID(cursor)
    except ValueError:
        raise BadCursor("The cursor is not one that this list gave.", path="cursor") from None
