"""What an agent's definition may say of its model; every refusal names the field.

No secret is ever part of it: a key is named by the environment variable that holds it. That name
must look like a key's, so that no definition can send another secret of the server away.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_TIMEOUT = 300.0
"""Seconds of silence after which a model counts as gone."""
LONGEST_TIMEOUT = 3600.0
MOST_TOKENS = 100_000_000
MOST_TEXT = 100_000
KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]*_(API_KEY|API_TOKEN)")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
OWN_FIELDS = frozenset({"messages", "tools", "stream", "system", "model"})


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is asked. None and empty mean: as the provider does by itself."""

    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    context_window: int | None = None
    timeout: float = DEFAULT_TIMEOUT
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """The options as a definition states them. Raises InvalidInput with the field's name."""
        if found := cls.faults(given):
            raise found[0]
        return cls(**{name: value for name, value in given.items() if value is not None})

    @classmethod
    def faults(cls, given: Mapping[str, Any]) -> list[InvalidInput]:
        """Everything that is wrong with them, each with its field's name."""
        found: list[InvalidInput] = []
        for name, value in given.items():
            if name not in _CHECKS:
                found.append(InvalidInput("there is no such option", path=name))
            elif value is not None:
                try:
                    _CHECKS[name](value)
                except InvalidInput as error:
                    found.append(error.under(name))
        return found

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults."""
        found: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value in (None, {}) or (entry.name == "timeout" and value == DEFAULT_TIMEOUT):
                continue
            found[entry.name] = dict(value) if isinstance(value, dict) else value
        return found

    def key(self, default_env: str) -> str | None:
        """The key, read when it is needed. An address of one's own gets a key only by name."""
        name = self.api_key_env or (None if self.base_url else default_env)
        return (os.environ.get(name) or None) if name else None

    def key_name(self, default_env: str) -> str:
        """The environment variable that should hold the key."""
        return self.api_key_env or default_env


def _check_url(value: Any) -> None:
    text = _text(value, 2_000)
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - a bad port is only noticed here
    except ValueError:
        raise InvalidInput("is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("must be an address that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput("may hold no user or password: name the key's environment variable")
    if parts.query or parts.fragment:
        raise InvalidInput("may hold no query and no fragment")


def _check_key_name(value: Any) -> None:
    if not KEY_NAME.fullmatch(_text(value, 200)):
        raise InvalidInput(
            "must name an environment variable in capitals that ends with _API_KEY or _API_TOKEN"
        )


def _check_temperature(value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= 2:
        raise InvalidInput("must be a number between 0 and 2")


def _check_tokens(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_TOKENS:
        raise InvalidInput(f"must be a whole number between 1 and {MOST_TOKENS}")


def _check_timeout(value: Any) -> None:
    if not _is_number(value) or not 0 < value <= LONGEST_TIMEOUT:
        raise InvalidInput(f"must be a number of seconds, at most {LONGEST_TIMEOUT:g}")


def _check_headers(value: Any) -> None:
    if not isinstance(value, dict):
        raise InvalidInput("must be an object of texts")
    for name, text in value.items():
        if not HEADER_NAME.fullmatch(name):
            raise InvalidInput(f"{name[:100]!r} is no name of a header")
        if SECRET_HEADER.search(name):
            raise InvalidInput(
                "looks like a secret: name the key's environment variable in api_key_env",
                path=name,
            )
        try:
            plain = _text(text, 2_000)
        except InvalidInput as error:
            raise error.under(name) from None
        if not plain.isascii() or any(c < " " for c in plain):
            raise InvalidInput("must be one line of ASCII text", path=name)


def _check_body(value: Any) -> None:
    if not isinstance(value, dict):
        raise InvalidInput("must be a JSON object")
    if len(codec.dumps(value, levels=100)) > MOST_TEXT:
        raise InvalidInput("is too long")
    for name in value:
        if name in OWN_FIELDS:
            raise InvalidInput("is filled in by AgentAdmin", path=name)


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise InvalidInput(f"must be text of at most {longest} characters")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHECKS = {
    "base_url": _check_url,
    "api_key_env": _check_key_name,
    "temperature": _check_temperature,
    "max_tokens": _check_tokens,
    "context_window": _check_tokens,
    "timeout": _check_timeout,
    "headers": _check_headers,
    "body": _check_body,
}
