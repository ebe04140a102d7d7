"""The rules that a chain of entries keeps, without a database: `verify` and bundles share them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentadmin.audit.format import (
    FORMAT,
    GENESIS,
    columns_of,
    content_columns_of,
    hash_of,
)
from agentadmin.engine.errors import DecodeError, TooDeep
from agentadmin.engine.state.codec import commit_of, loads


class FirstBad(NamedTuple):
    """The first entry that is not what it was, and why we know."""

    chain: str
    n: int
    why: str


class Stored(NamedTuple):
    """One entry as it was found."""

    n: int
    header: str
    body: str | None
    salt: bytes | None
    body_commit: str
    prev_hash: str
    hash: str


@dataclass(slots=True)
class Verdict:
    """What a verification found so far."""

    checked: int = 0
    erased: int = 0
    first_bad: FirstBad | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing was found altered."""
        return self.first_bad is None

    def as_dict(self) -> dict[str, Any]:
        """The answer of `verifyAudit` and `verify_audit --json`."""
        return {
            "ok": self.ok,
            "checked": self.checked,
            "erased": self.erased,
            "first_bad": self.first_bad._asdict() if self.first_bad else None,
        }


@dataclass(slots=True)
class ChainCheck:
    """Walks one chain in order; `step` says what is wrong with the next entry."""

    chain: str
    verdict: Verdict
    n: int = 0
    head: str = GENESIS
    # What header and body of the last entry say, for whoever compares columns with it.
    columns: dict[str, str | None] = field(default_factory=dict)
    at: str = ""

    def step(self, entry: Stored) -> str | None:
        """Check one entry against the one before; the reason where it is bad."""
        return self._number(entry) or self._link(entry) or self._content(entry)

    def accept(self, entry: Stored) -> None:
        """Go on from this entry."""
        self.n, self.head = entry.n, entry.hash
        self.verdict.checked += 1
        self.verdict.erased += entry.body is None

    def fail(self, n: int, why: str) -> None:
        """Note the first bad entry."""
        self.verdict.first_bad = self.verdict.first_bad or FirstBad(self.chain, n, why)

    def _number(self, entry: Stored) -> str | None:
        if entry.n > self.n + 1:
            return f"entry {self.n + 1} is missing"
        return None if entry.n == self.n + 1 else f"entry {entry.n} stands out of order"

    def _link(self, entry: Stored) -> str | None:
        if not self._follows(entry):
            return "it does not follow the entry before it"
        if entry.hash != hash_of(entry.prev_hash, entry.header, entry.body_commit):
            return "header and hash do not agree"
        return None

    def _follows(self, entry: Stored) -> bool:
        return entry.prev_hash == self.head

    def _content(self, entry: Stored) -> str | None:
        if (entry.body is None) != (entry.salt is None):
            return "body and salt were not erased together"
        if (
            entry.body is not None
            and entry.salt is not None
            and commit_of(entry.salt, entry.body) != entry.body_commit
        ):
            return "body and commitment do not agree"
        return self._read(entry)

    def _read(self, entry: Stored) -> str | None:
        """Decode the texts: from here on they are known to be the ones that were written."""
        try:
            header = loads(entry.header)
            body = None if entry.body is None else loads(entry.body)
            self.columns = columns_of(header) | content_columns_of(body)
            self.at = header["at"]
            said = (header["v"], header["chain"], header["n"])
        except (DecodeError, TooDeep, KeyError, TypeError, AttributeError):
            return "header or body cannot be read"
        if said != (FORMAT, self.chain, entry.n):
            return "the header tells of another chain, number or format"
        return None


@dataclass(slots=True)
class PartCheck(ChainCheck):
    """Walks some entries of a chain: each proves itself, neighbours also prove their order."""

    entries: int = 0

    def accept(self, entry: Stored) -> None:
        """Go on from this entry, and count it."""
        ChainCheck.accept(self, entry)
        self.entries += 1

    def _number(self, entry: Stored) -> str | None:
        return None if entry.n > self.n else f"entry {entry.n} stands out of order"

    def _follows(self, entry: Stored) -> bool:
        return entry.n > self.n + 1 or entry.prev_hash == self.head
