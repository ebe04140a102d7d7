"""The audit log as a file: a table for people (CSV, Excel), or a bundle that proves itself.

Every generator here asks the database page by page, so that no cursor stays open between two
pieces of an answer and memory does not grow with the log.
"""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max

from agentadmin.audit.bundle import line, manifest, part_manifest
from agentadmin.audit.check import Stored
from agentadmin.audit.format import column_text
from agentadmin.audit.models import AuditChain, AuditEntry
from agentadmin.audit.selectors import EXPORT, Filters, entry_document, matching, visible
from agentadmin.engine.clock import iso
from agentadmin.engine.errors import DecodeError, InvalidInput
from agentadmin.engine.state.codec import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet

    from agentadmin.audit.selectors import Reader

FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
COLUMNS = (
    *("chain", "no", "at", "outcome", "actor", "actor_kind", "on_behalf_of", "action"),
    *("target", "target_label", "agent_id", "reason", "address", "request_id", "trace_id"),
    *("content", "id", "hash"),
)
PAGE = 500
PIECE = 64 * 1024
# What Excel's format can hold.
MOST_ROWS = 1_048_575
MOST_CELL = 32_000
# A cell that begins so is a formula to a spreadsheet, whoever wrote it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Export:
    """A file that is still being written: what it is, and its bytes in pieces."""

    content_type: str
    name: str
    pieces: Iterator[bytes]


def export(reader: Reader, filters: Filters, format: str, *, name: str = "audit") -> Export:
    """What the reader may export of what fits the filters. Raises before the first byte."""
    if format not in FORMATS:
        raise InvalidInput(f"must be one of {', '.join(FORMATS)}", path="format")
    rows = visible(reader, EXPORT).filter(matching(filters))
    pieces = _pieces(reader, filters, rows, format)
    return Export(FORMATS[format], f"{name}.{format}", pieces)


def _pieces(
    reader: Reader, filters: Filters, rows: QuerySet[AuditEntry], format: str
) -> Iterator[bytes]:
    if format == "jsonl":
        return (f"{text}\n".encode() for text in bundle_lines(reader, filters))
    if format == "csv":
        return _csv(rows)
    if rows.count() > MOST_ROWS:
        raise InvalidInput(f"more than {MOST_ROWS:,} entries fit; narrow them", path="format")
    return _xlsx(rows)


def bundle_lines(reader: Reader, filters: Filters | None = None) -> Iterator[str]:
    """A bundle of whole chains; of what is left where the reader or a filter leaves entries out."""
    rows = visible(reader, EXPORT)
    whole = filters in (None, Filters()) and not _hides(reader, rows)
    rows = rows.filter(matching(filters or Filters()))
    last: dict[str, int] = {}
    if whole:
        chains = rows.order_by().values_list("chain", flat=True).distinct()
        heads = {one.chain: one for one in AuditChain.objects.filter(chain__in=chains)}
        last = {chain: head.n for chain, head in heads.items()}
        yield manifest({chain: (head.n, head.head_hash) for chain, head in heads.items()})
    else:
        counted = rows.order_by().values("chain").annotate(last=Max("n"), entries=Count("pk"))
        found = {one["chain"]: (one["last"], one["entries"]) for one in counted}
        last = {chain: n for chain, (n, _) in found.items()}
        yield part_manifest(
            {chain: (n, _hash(chain, n), entries) for chain, (n, entries) in found.items()}
        )
    for chain in sorted(last):
        yield from _lines(rows.filter(chain=chain, n__lte=last[chain]), chain)


def _hides(reader: Reader, rows: QuerySet[AuditEntry]) -> bool:
    """Whether the reader's chains hold entries that the reader may not see."""
    seen = reader.visible(EXPORT, namespace="namespace", agent="agent_id")
    if not seen:
        return False
    chains = rows.order_by().values_list("chain", flat=True).distinct()
    return AuditEntry.objects.filter(chain__in=chains).exclude(seen).exists()


def _hash(chain: str, n: int) -> str:
    return AuditEntry.objects.filter(chain=chain, n=n).values_list("hash", flat=True).get()


def _lines(rows: QuerySet[AuditEntry], chain: str) -> Iterator[str]:
    after = 0
    ordered = rows.order_by("n").values_list(*Stored._fields)
    while page := list(ordered.filter(n__gt=after)[:PAGE]):
        for n, header, body, salt, *hashes in page:
            yield line(chain, Stored(n, header, body, bytes(salt) if salt else None, *hashes))
        after = page[-1][0]


def _entries(rows: QuerySet[AuditEntry]) -> Iterator[list[AuditEntry]]:
    """The entries in the order in which things went."""
    ordered = rows.order_by("id")
    page = list(ordered[:PAGE])
    while page:
        yield page
        page = list(ordered.filter(id__gt=page[-1].pk)[:PAGE])


def _csv(rows: QuerySet[AuditEntry]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for page in _entries(rows):
        writer.writerows([_unformulated(value) for value in _cells(entry)] for entry in page)
        yield text.getvalue().encode("utf-8", "replace")
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode("utf-8", "replace")


def _xlsx(rows: QuerySet[AuditEntry]) -> Iterator[bytes]:
    """Written row by row to disk, then handed on: the format has its index at its end."""
    with tempfile.TemporaryFile() as file:
        options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        # A sixth of a second that no start of a process should pay.
        with import_module("xlsxwriter").Workbook(file, options) as book:
            sheet = book.add_worksheet("Audit")
            sheet.write_row(0, 0, COLUMNS)
            number = 0
            for page in _entries(rows):
                for entry in page:
                    number += 1
                    for column, value in enumerate(_cells(entry)):
                        _write(sheet, number, column, value)
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece


def _write(sheet: Any, row: int, column: int, value: str | int) -> None:
    if isinstance(value, int):
        sheet.write_number(row, column, value)
    else:
        sheet.write_string(row, column, column_text(value)[:MOST_CELL])


def _cells(entry: AuditEntry) -> list[str | int]:
    """An entry as a row; one whose texts cannot be read shows its columns."""
    try:
        document = entry_document(entry)
        kind = str(document["actor"]["kind"])
    except (DecodeError, KeyError, TypeError, AttributeError):
        document, kind = {}, ""
    told = document.get("content")
    given: list[str | int | None] = [
        *(entry.chain, entry.n, iso(entry.at), entry.outcome, entry.actor, kind),
        *(document.get("on_behalf_of"), entry.action, entry.target, entry.target_label),
        *(entry.agent_id, entry.reason, document.get("address"), document.get("request_id")),
        *(entry.trace_id, None if told is None else dumps(told), str(entry.pk), entry.hash),
    ]
    return ["" if value is None else value for value in given]


def _unformulated(value: str | int) -> str | int:
    """Text stays text in a spreadsheet."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
