"""An audit entry as the page shows it: its document, its change, its target's address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import NoReverseMatch, reverse

from agentadmin.access.tokens import is_uuid
from agentadmin.audit.selectors import entry_document
from agentadmin.engine.errors import DecodeError
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentadmin.audit.models import AuditEntry

_PAGES = {"session": "session", "thread": "thread_conversation", "run": "run"}
_DIFF = ("patch", "before_sha256", "after_sha256")


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One line of a change: a path, what went, or what came."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """Everything an entry says, its content parted into the change and the rest."""

    document: dict[str, Any]
    change: list[ChangeLine]
    rest: dict[str, Any]
    unreadable: str = ""


def shown_entry(entry: AuditEntry) -> ShownEntry:
    """An entry for its page; one whose text cannot be read says so and shows its columns."""
    try:
        document = entry_document(entry)
    except (DecodeError, KeyError, TypeError, AttributeError) as error:
        return ShownEntry({}, [], {}, unreadable=str(error) or "the stored text cannot be read")
    content = document.get("content")
    told = content if isinstance(content, dict) else {}
    patch = told.get("patch")
    lines = list(change_lines(patch)) if isinstance(patch, dict) else []
    return ShownEntry(document, lines, {k: v for k, v in told.items() if k not in _DIFF})


def change_lines(patch: Mapping[str, Any], path: str = "") -> Iterator[ChangeLine]:
    """A structural diff as lines: before and after at each path, lists as what came and went."""
    for key, value in patch.items():
        at = f"{path}/{key}"
        if isinstance(value, dict) and set(value) == {"before", "after"}:
            yield ChangeLine("", at)
            yield from _sides(value)
        elif isinstance(value, dict):
            yield from change_lines(value, at)
        elif value not in ([], None, ""):
            yield ChangeLine("", at)
            yield from (ChangeLine(_sign(key), _text(each)) for each in _listed(value))


def _sides(value: Mapping[str, Any]) -> Iterator[ChangeLine]:
    if value["before"] not in (None, ""):
        yield ChangeLine("-", _text(value["before"]))
    if value["after"] not in (None, ""):
        yield ChangeLine("+", _text(value["after"]))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _sign(key: str) -> str:
    if "removed" in key or key == "narrowed":
        return "-"
    return "+" if "added" in key or key == "widened" else ""


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else codec.dumps(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}… ({len(text):,} characters)"


MAX_TEXT = 4_000


def version_url(shown: ShownEntry) -> str:
    """The versions of the thread that the entry changed, where it says which it made."""
    target = shown.document.get("target") or {}
    version, id_ = shown.rest.get("version"), str(target.get("id"))
    if target.get("kind") != "thread" or not isinstance(version, int) or not is_uuid(id_):
        return ""
    try:
        before = max(0, version - 1)
        return reverse("thread_compare", args=[id_, f"{before}..{version}"])
    except NoReverseMatch:
        return ""


def target_url(shown: ShownEntry) -> str:
    """The page of what it was done to, where there is one."""
    target = shown.document.get("target") or {}
    kind, id_ = str(target.get("kind")), str(target.get("id"))
    if kind in _PAGES and (kind == "run" or is_uuid(id_)):
        return reverse(_PAGES[kind], args=[id_])
    within = str(target.get("within") or "")
    return reverse("session", args=[within]) if is_uuid(within) else ""
