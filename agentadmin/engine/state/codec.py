"""The only JSON codec: canonical text that loses nothing.

Written text is compact, keeps insertion order, leaves non-ASCII raw, and is always valid UTF-8:
a lone surrogate becomes its `\\udXXX` escape. orjson does the work; what it would refuse or alter
takes the exact path: integers beyond 64 bits, lone surrogates, nesting over 250, NaN.

Edges, decided once:
* Objects with duplicate keys: the last value wins, at the first one's place.
* Nesting over 1000 levels is refused both ways (`TooDeep`), never a RecursionError. What a
  document of ours wraps may nest that deep itself, so answers and events ask for `WRAPPED`.
* `NaN`, `Infinity`, `-Infinity` are read and written as AgentScope for Python writes them.
* A number that overflows a double, as `1e400`, is refused: it could only be altered.
* Two adjacent surrogates that form a pair are that pair's character: JSON knows no difference.
"""

from __future__ import annotations

import hashlib
import json
import re
from itertools import accumulate
from math import inf, isinf
from typing import Any

import orjson

from agentadmin.engine.errors import DecodeError, TooDeep
from agentadmin.engine.state.json_writer import COMPACT, INDENTED, MAX_DEPTH, Layout, write

Json = Any

_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
# Every digit becomes a zero, so that one substring search finds numbers that may exceed 64 bits.
_DIGITS_TO_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_BEFORE_NUMBER = frozenset(b"[,: \n\r\t-")
_BRACKET_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))
_PLAIN = frozenset({str, int, bool, type(None)})
_SURROGATE = re.compile("[\ud800-\udfff]")


WRAPPED = MAX_DEPTH + 24
"""Levels of an answer or an event: what it tells may have all that a document may have."""


def dumps(value: Json, *, levels: int = MAX_DEPTH) -> str:
    """The canonical text of a value."""
    return _write(value, _OPTIONS, COMPACT, levels)


def pretty(value: Json) -> str:
    """The same value for human eyes: two spaces a level."""
    return _write(value, _OPTIONS | orjson.OPT_INDENT_2, INDENTED, MAX_DEPTH)


def loads(text: str | bytes, *, levels: int = MAX_DEPTH) -> Json:
    """The value of a JSON text; `DecodeError` says where it is not one."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    if _may_hold_long_number(data):
        return _loads_exactly(data, levels)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _loads_exactly(data, levels)
    _check_depth(data, levels)
    return value


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def commit_of(salt: bytes, text: str) -> str:
    """The salted commitment that stands for a text even after its erasure."""
    return hashlib.sha256(salt + text.encode("utf-8", "surrogatepass")).hexdigest()


def _write(value: Json, options: int, layout: Layout, levels: int) -> str:
    try:
        data = orjson.dumps(value, option=options)
    except TypeError:  # a big integer, a surrogate, deep nesting, or no JSON at all
        return write(value, layout, levels)
    # orjson writes null for a number that is not finite.
    if b"null" in data and holds_non_finite(value):
        return write(value, layout, levels)
    return data.decode()


def holds_non_finite(value: Json) -> bool:
    """Whether there is a number in it that JSON has no word for."""
    stack = [[value]]
    while stack:
        for item in stack.pop():
            if type(item) in _PLAIN:
                continue
            if isinstance(item, dict):
                stack.append(list(item.values()))
            elif isinstance(item, list | tuple):
                stack.append(list(item))
            elif isinstance(item, float) and not -inf < item < inf:
                return True
    return False


def _may_hold_long_number(data: bytes) -> bool:
    """Whether many digits stand where a number may; most long runs are parts of ids."""
    zeros = data.translate(_DIGITS_TO_ZEROS)
    place = zeros.find(_LONG_NUMBER)
    while place > 0:
        if data[place - 1] in _BEFORE_NUMBER:
            return True
        while zeros.startswith(_LONG_NUMBER, place):
            place += 1
        place = zeros.find(_LONG_NUMBER, place)
    return place == 0


def _check_depth(data: bytes, levels: int) -> None:
    """Refuses too deep a text in one linear pass, without recursion."""
    if data.count(b"[") + data.count(b"{") <= levels:
        return
    # Without its escapes a text alternates between what stands outside of strings and within. Short
    # calls, as each one holds the whole process: a pattern takes a tenth of a second for 25 MB.
    outside = data.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2]
    brackets = b"".join(outside).translate(_BRACKET_STEPS, _NO_BRACKETS)
    if max(accumulate(memoryview(brackets).cast("b")), default=0) > levels:
        raise TooDeep


def _loads_exactly(data: bytes, levels: int) -> Json:
    _check_depth(data, levels)
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DecodeError(f"not UTF-8 at byte {error.start}") from error
    if _SURROGATE.search(text):  # joins pairs that came as two code points
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    try:
        return json.loads(text, parse_float=_finite)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise DecodeError(f"not JSON: {error.msg} at {where}") from error
    except ValueError as error:  # Python reads no integer of more than 4300 digits
        raise DecodeError("a number has too many digits") from error


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise DecodeError(f"the number {text[:40]} exceeds a double")
    return number
