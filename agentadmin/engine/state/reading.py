"""Typed reading of raw objects: a wrong field is refused by its JSON path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

Raw = dict[str, Any]

_BOOLEANS: dict[Any, bool] = {"true": True, "false": False, 1: True, 0: False}


class Reader:
    """One raw object at a path; null reads as absent, as AgentScope's decoder has it."""

    __slots__ = ("path", "raw")

    def __init__(self, raw: Any, path: str = "") -> None:
        if not isinstance(raw, dict):
            raise DecodeError("must be an object", path=path)
        self.raw: Raw = raw
        self.path = path

    def at(self, field: str) -> str:
        return f"{self.path}.{field}" if self.path else field

    def refuse(self, field: str, detail: str) -> DecodeError:
        return DecodeError(detail, path=self.at(field))

    def text(self, field: str) -> str | None:
        value = self.raw.get(field)
        if value is not None and not isinstance(value, str):
            raise self.refuse(field, "must be text")
        return value

    def required_text(self, field: str) -> str:
        value = self.text(field)
        if value is None:
            raise self.refuse(field, "is missing")
        return value

    def number(self, field: str, default: float) -> int | float:
        """Also a number as text, which AgentScope for Java accepts."""
        value = self.raw.get(field)
        if value is None:
            return default
        if isinstance(value, str):
            value = _number_in(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(field, "must be a number")
        return value

    def integer(self, field: str, default: int) -> int:
        value = self.number(field, default)
        if isinstance(value, int):
            return value
        if not value.is_integer():
            raise self.refuse(field, "must be a whole number")
        return int(value)

    def boolean(self, field: str) -> bool:
        value = self.raw.get(field)
        if value is None:
            return False
        if isinstance(value, list | dict) or value not in _BOOLEANS:
            raise self.refuse(field, "must be true or false")
        return _BOOLEANS[value]

    def object(self, field: str) -> Raw:
        value = self.raw.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.refuse(field, "must be an object")
        return value

    def array(self, field: str) -> list[Any]:
        value = self.raw.get(field)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.refuse(field, "must be an array")
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        values = self.array(field)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise self.refuse(f"{field}[{index}]", "must be text")
        return tuple(values)

    def word[E: StrEnum](self, field: str, kind: type[E]) -> E | None:
        """A member of a closed vocabulary, in any case."""
        value = self.text(field)
        if value is None:
            return None
        try:
            return kind(value.lower())
        except ValueError:
            words = ", ".join(kind)
            raise self.refuse(field, f"{value[:40]!r} is none of {words}") from None

    def children(self, field: str) -> list[Reader]:
        """The objects of an array, each with its path."""
        values = self.array(field)
        return [Reader(raw, f"{self.at(field)}[{index}]") for index, raw in enumerate(values)]

    def rest(self, known: Iterable[str]) -> Raw:
        """What nobody here knows, kept to be written back."""
        return {key: value for key, value in self.raw.items() if key not in known}


def _number_in(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        return None
