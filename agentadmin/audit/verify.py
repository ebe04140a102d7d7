"""Verify the chains in the database, page by page: memory does not grow with the log."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from agentadmin.audit.check import ChainCheck, Stored, Verdict
from agentadmin.audit.format import GENESIS
from agentadmin.audit.models import AuditChain, AuditEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = 1000
_TEXTS = ("n", "header", "body", "salt", "body_commit", "prev_hash", "hash")
_COLUMNS = (
    *("id", "chain", "namespace", "actor", "actor_id", "action", "target", "within"),
    *("agent_id", "outcome", "trace_id", "reason", "target_label"),
)
Row = tuple[Any, ...]


def verify(
    chain: str | None = None, *, chains: Iterable[str] | None = None, using: str = "default"
) -> dict[str, Any]:
    """Check one chain, some, or all: `{ok, checked, erased, first_bad}`."""
    verdict = Verdict()
    if chain is not None:
        names = [chain]
    else:
        names = sorted(chains) if chains is not None else chain_names(using=using)
    for name in names:
        _verify_chain(ChainCheck(name, verdict), using)
        if not verdict.ok:
            break
    return verdict.as_dict()


def chain_names(*, using: str = "default") -> list[str]:
    """Every chain that has a head or an entry: a chain without a head must not go unnoticed."""
    heads = AuditChain.objects.using(using).values_list("chain", flat=True)
    entries = AuditEntry.objects.using(using).values_list("chain", flat=True)
    return sorted({*heads, *entries.order_by("chain").distinct()})


def _verify_chain(check: ChainCheck, using: str) -> None:
    """Up to the head as it is now; what others append meanwhile is for the next verification."""
    n, head_hash = _head(check.chain, using)
    for page in _pages(check.chain, n, using):
        for row in page:
            if (why := _check_row(check, row)) is not None:
                return check.fail(_blamed(check, row), why)
    if check.n < n:
        return check.fail(check.n + 1, f"entry {check.n + 1} is missing")
    if check.head != head_hash:
        return check.fail(n, "the head of the chain tells of another last entry")
    beyond = _beyond_head(check.chain, using)
    if beyond is not None:
        check.fail(beyond, "it stands beyond the head of the chain")
    return None


def _check_row(check: ChainCheck, row: Row) -> str | None:
    entry = _stored(row)
    why = check.step(entry) or _compare(check, row)
    if why is None:
        check.accept(entry)
    return why


def _blamed(check: ChainCheck, row: Row) -> int:
    """A gap is the missing entry's, everything else the row's own."""
    n: int = row[0]
    return min(n, check.n + 1)


def _stored(row: Row) -> Stored:
    n, header, body, salt, *hashes = row[: len(_TEXTS)]
    return Stored(n, header, body, None if salt is None else bytes(salt), *hashes)


def _compare(check: ChainCheck, row: Row) -> str | None:
    """The list columns must say what header and body say."""
    *values, at = row[len(_TEXTS) :]
    found = dict(zip(_COLUMNS, values, strict=True))
    found["id"] = str(found["id"])
    for name, value in found.items():
        if value != check.columns[name]:
            return f"the column {name} does not say what the entry says"
    if at != datetime.fromisoformat(check.at):
        return "the column at does not say what the entry says"
    return None


def _head(chain: str, using: str) -> tuple[int, str]:
    heads = AuditChain.objects.using(using).filter(chain=chain)
    return heads.values_list("n", "head_hash").first() or (0, GENESIS)


def _pages(chain: str, last: int, using: str) -> Iterator[list[Row]]:
    rows = AuditEntry.objects.using(using).filter(chain=chain, n__lte=last).order_by("n")
    after = 0
    while page := list(rows.filter(n__gt=after).values_list(*_TEXTS, *_COLUMNS, "at")[:PAGE]):
        yield page
        after = page[-1][0]


def _beyond_head(chain: str, using: str) -> int | None:
    """One statement reads head and entries as of one moment, so that no append is mistaken."""
    head = AuditChain.objects.using(using).filter(chain=OuterRef("chain")).values("n")
    rows = AuditEntry.objects.using(using).filter(chain=chain, n__gt=Coalesce(Subquery(head), 0))
    first: int | None = rows.order_by("n").values_list("n", flat=True).first()
    return first
