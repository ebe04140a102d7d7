"""Bundles: chains as JSON lines that anybody can verify without this product's database.

The first line names the format and each chain's last entry; then one line an entry. A bundle in
which entries are left out says so, and how many it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.audit.check import ChainCheck, PartCheck, Stored, Verdict
from agentadmin.engine.errors import DecodeError, TooDeep
from agentadmin.engine.state.codec import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NAME = "agentadmin-audit"
VERSION = 1


def manifest(heads: Mapping[str, tuple[int, str]]) -> str:
    """The first line: how many entries each chain has, and the hash of its last."""
    chains = {chain: {"n": n, "head_hash": head} for chain, (n, head) in heads.items()}
    return dumps({"bundle": NAME, "v": VERSION, "chains": chains})


def part_manifest(heads: Mapping[str, tuple[int, str, int]]) -> str:
    """The first line where entries are left out: the last one of each chain, and how many come."""
    chains = {
        chain: {"n": n, "head_hash": head, "entries": entries}
        for chain, (n, head, entries) in heads.items()
    }
    return dumps({"bundle": NAME, "v": VERSION, "part": True, "chains": chains})


def line(chain: str, entry: Stored) -> str:
    """One entry's line."""
    document = entry._asdict() | {"salt": entry.salt.hex() if entry.salt else None}
    return dumps({"chain": chain, **document})


def verify_bundle(lines: Iterable[str | bytes]) -> dict[str, Any]:
    """Check a bundle: `{ok, checked, erased, first_bad}`, as for the database."""
    verdict = Verdict()
    numbered = _non_empty(lines)
    checks = _checks(next(numbered, (1, "")), verdict)
    for number, text in numbered:
        if not verdict.ok:
            break
        _check_line(number, text, checks, verdict)
    for promise in checks.values() if verdict.ok else ():
        promise.keep()
    return verdict.as_dict()


@dataclass(slots=True)
class _Promise:
    """What the first line says of one chain, and the check of its entries."""

    check: ChainCheck
    n: int
    head_hash: str
    entries: int | None = None

    def keep(self) -> None:
        """Fail unless the chain ends as the first line says."""
        check = self.check
        if self.n and (check.n, check.head) != (self.n, self.head_hash):
            check.fail(min(check.n + 1, self.n), "the bundle does not end as its first line says")
        elif isinstance(check, PartCheck) and check.entries != self.entries:
            check.fail(self.n, "the bundle does not have as many entries as its first line says")


def _non_empty(lines: Iterable[str | bytes]) -> Iterator[tuple[int, str | bytes]]:
    return ((number, text) for number, text in enumerate(lines, 1) if text.strip())


def _checks(first: tuple[int, str | bytes], verdict: Verdict) -> dict[str, _Promise]:
    try:
        document = loads(first[1])
        if (document["bundle"], document["v"]) != (NAME, VERSION):
            raise KeyError("bundle")
        kind = PartCheck if document.get("part", False) else ChainCheck
        return {
            chain: _Promise(
                kind(chain, verdict),
                int(head["n"]),
                str(head["head_hash"]),
                int(head["entries"]) if kind is PartCheck else None,
            )
            for chain, head in document["chains"].items()
        }
    except (DecodeError, TooDeep, KeyError, TypeError, ValueError, AttributeError):
        ChainCheck("", verdict).fail(0, "line 1 is not the first line of an audit bundle")
        return {}


def _check_line(
    number: int, text: str | bytes, promises: dict[str, _Promise], verdict: Verdict
) -> None:
    try:
        document = loads(text)
        chain, entry = str(document["chain"]), _stored(document)
    except (DecodeError, TooDeep, KeyError, TypeError, ValueError, AttributeError):
        ChainCheck("", verdict).fail(0, f"line {number} cannot be read")
        return
    if chain not in promises:
        ChainCheck(chain, verdict).fail(1, "the bundle's first line does not name this chain")
        return
    check = promises[chain].check
    why = check.step(entry)
    if why is None:
        check.accept(entry)
    else:
        check.fail(min(entry.n, check.n + 1), f"{why} (line {number})")


def _stored(document: dict[str, Any]) -> Stored:
    salt = document["salt"]
    texts = {name: document[name] for name in ("header", "body_commit", "prev_hash", "hash")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise TypeError("header and hashes are texts")
    body = document["body"]
    if body is not None and not isinstance(body, str):
        raise TypeError("a body is a text")
    return Stored(
        n=int(document["n"]), body=body, salt=None if salt is None else bytes.fromhex(salt), **texts
    )
