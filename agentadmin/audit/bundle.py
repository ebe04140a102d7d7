"""Bundles: chains as JSON lines that anybody can verify without this product's database.

The first line names the format and each chain's first and last entry; then one line an entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.audit.check import ChainCheck, Stored, Verdict
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


def line(chain: str, entry: Stored) -> str:
    """One entry's line."""
    document = entry._asdict() | {"salt": entry.salt.hex() if entry.salt else None}
    return dumps({"chain": chain, **document})


def verify_bundle(lines: Iterable[str | bytes]) -> dict[str, Any]:
    """Check a bundle: `{ok, checked, erased, first_bad}`, as for the database."""
    verdict = Verdict()
    checks: dict[str, ChainCheck] = {}
    numbered = _non_empty(lines)
    heads = _heads(next(numbered, (1, "")), verdict)
    for number, text in numbered:
        if not verdict.ok:
            break
        _check_line(number, text, checks, verdict)
    for chain, (n, head_hash) in heads.items() if verdict.ok else ():
        check = checks.pop(chain, None) or ChainCheck(chain, verdict)
        if (check.n, check.head) != (n, head_hash) and n:
            check.fail(min(check.n + 1, n), "the bundle does not end as its first line says")
    for check in checks.values() if verdict.ok else ():
        check.fail(1, "the bundle's first line does not name this chain")
    return verdict.as_dict()


def _non_empty(lines: Iterable[str | bytes]) -> Iterator[tuple[int, str | bytes]]:
    return ((number, text) for number, text in enumerate(lines, 1) if text.strip())


def _heads(first: tuple[int, str | bytes], verdict: Verdict) -> dict[str, tuple[int, str]]:
    try:
        document = loads(first[1])
        if (document["bundle"], document["v"]) != (NAME, VERSION):
            raise KeyError("bundle")
        return {
            chain: (int(head["n"]), str(head["head_hash"]))
            for chain, head in document["chains"].items()
        }
    except (DecodeError, TooDeep, KeyError, TypeError, ValueError, AttributeError):
        ChainCheck("", verdict).fail(0, "line 1 is not the first line of an audit bundle")
        return {}


def _check_line(
    number: int, text: str | bytes, checks: dict[str, ChainCheck], verdict: Verdict
) -> None:
    try:
        document = loads(text)
        chain, entry = str(document["chain"]), _stored(document)
    except (DecodeError, TooDeep, KeyError, TypeError, ValueError, AttributeError):
        ChainCheck("", verdict).fail(0, f"line {number} cannot be read")
        return
    check = checks.setdefault(chain, ChainCheck(chain, verdict))
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
