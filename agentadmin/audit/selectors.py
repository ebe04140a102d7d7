"""Reads of the audit log, always within what the reader may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import UUID

from django.db.models import Q

from agentadmin.audit.bundle import line, manifest
from agentadmin.audit.check import Stored
from agentadmin.audit.format import Outcome, column_text
from agentadmin.audit.models import AuditChain, AuditEntry
from agentadmin.audit.verify import verify
from agentadmin.engine.clock import iso
from agentadmin.engine.errors import BadCursor, InvalidInput, NotFound
from agentadmin.engine.state.codec import loads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet

READ = "audit:read"
VERIFY = "audit:verify"
EXPORT = "audit:export"
MAX_LIMIT = 200
# What `target=<id>` may mean, beside everything that lies within it.
KINDS = ("session", "thread", "turn", "run", "interaction", "control", "agent", "user", "token")
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
    rows = _visible(reader, READ).filter(_matching(filters))
    if cursor:
        rows = rows.filter(id__lt=_parse_cursor(cursor))
    found = list(rows.order_by("-id").only(*_LISTED)[: limit + 1])
    items = found[:limit]
    return Page(items, str(items[-1].id) if len(found) > limit else None)


def entry_detail(reader: Reader, entry_id: str) -> AuditEntry:
    """One entry, whole; one that the reader may not see is not found."""
    try:
        wanted = UUID(entry_id)
    except ValueError:
        raise NotFound from None
    entry = _visible(reader, READ).filter(id=wanted).first()
    if entry is None:
        raise NotFound
    return entry


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


def visible_chains(reader: Reader, permission: str) -> list[str]:
    """The chains of which the reader may see some entries."""
    rows = _visible(reader, permission).order_by("chain").values_list("chain", flat=True)
    return list(rows.distinct())


def verify_visible(reader: Reader) -> dict[str, Any]:
    """Verify the chains of the reader's namespaces."""
    reader.require(VERIFY)
    return verify(chains=visible_chains(reader, VERIFY))


def bundle_lines(reader: Reader) -> Iterator[str]:
    """The chains of which the reader may see every entry, as a bundle."""
    reader.require(EXPORT)
    seen = reader.visible(EXPORT, namespace="namespace", agent="agent_id")
    # An empty Q is everything, and Django excludes nothing by it.
    hidden = AuditEntry.objects.exclude(seen) if seen else AuditEntry.objects.none()
    partly = hidden.order_by("chain").values_list("chain", flat=True).distinct()
    chains = set(visible_chains(reader, EXPORT)) - set(partly)
    heads = {
        head.chain: (head.n, head.head_hash) for head in AuditChain.objects.filter(chain__in=chains)
    }
    yield manifest(heads)
    for chain, (last, _) in heads.items():
        rows = AuditEntry.objects.filter(chain=chain, n__lte=last).order_by("n")
        for row in rows.values_list(*Stored._fields).iterator(chunk_size=1000):
            n, header, body, salt, *hashes = row
            yield line(chain, Stored(n, header, body, bytes(salt) if salt else None, *hashes))


def _visible(reader: Reader, permission: str) -> QuerySet[AuditEntry]:
    reader.require(permission)
    return AuditEntry.objects.filter(
        reader.visible(permission, namespace="namespace", agent="agent_id")
    )


def _matching(filters: Filters) -> Q:
    wanted = Q()
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
