"""Log lines: JSON, one object a line, with the ids of what was being done; never a secret.

Ids are bound to the context (`bound(run_id=…)`), so that whatever logs within needs to know none of
them. Bodies are never logged by the product; what a library says passes the same filter, which
blackens tokens, keys and passwords.
"""

from __future__ import annotations

import json
import logging
import os
import re
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agentadmin import env
from agentadmin.trace import trace_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

IDS = ("trace_id", "thread_id", "turn_id", "run_id", "job_id")
HIDDEN = "[hidden]"
# Longer texts are content, not news.
LONGEST = 4000
LONGEST_TRACE = 20_000
LONGEST_ID = 64
_SECRETS = re.compile(
    r"""\baa_[A-Za-z0-9_.-]{8,}                           # tokens of this product
    |\b(?:sk|pk|rk|key)-[A-Za-z0-9_-]{8,}                 # keys of model providers
    |(?<=://)[^\s/@]+(?=@)                                # user and password of an address
    |(?i:(?<=bearer\s)|(?<=basic\s))[A-Za-z0-9._~+/=-]{8,}
    |(?i:(?<=password=)|(?<=api_key=)|(?<=secret=)|(?<=token=)|(?<=sessionid=)|(?<=csrftoken=))
     [^\s&;,'"]+""",
    re.VERBOSE,
)
_KEYS = ("SECRET_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AGENTADMIN_ADMIN_PASSWORD")

_bound: ContextVar[Mapping[str, str]] = ContextVar("bound_ids", default={})  # noqa: B039 - never changed in place


def bind(**ids: str) -> None:
    """Name what is being done for the rest of this context."""
    _bound.set({**_bound.get(), **ids})


def bind_named(values: Mapping[str, object]) -> None:
    """Bind what an address names; a text that is longer than any id of ours is none."""
    found = {name: str(values[name]) for name in IDS if name in values}
    bind(**{name: value for name, value in found.items() if 0 < len(value) <= LONGEST_ID})


@contextmanager
def bound(**ids: str) -> Iterator[None]:
    """Name what is being done within the block."""
    token = _bound.set({**_bound.get(), **ids})
    try:
        yield
    finally:
        _bound.reset(token)


def without_secrets(text: str) -> str:
    """The text with every token, key and password blackened."""
    for name in _KEYS:
        value = os.environ.get(name, "")
        if len(value) >= 8:
            text = text.replace(value, HIDDEN)
    return _SECRETS.sub(HIDDEN, text)


class ContextFilter(logging.Filter):
    """Puts the bound ids on every record, at the moment at which it is made."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Never drops a record."""
        record.ids = {"trace_id": trace_id(), **_bound.get()}
        return True


class _Lines(logging.Formatter):
    """What both forms say of a record."""

    def said(self, record: logging.LogRecord) -> dict[str, Any]:
        """The fields of a line, in order; ids that are not bound are left out."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        ids: Mapping[str, str] = getattr(record, "ids", {})
        told: dict[str, Any] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": without_secrets(_cut(record.getMessage(), LONGEST)),
            **{name: ids[name] for name in IDS if ids.get(name, "-") != "-"},
        }
        if trace := self._trace(record):
            told["exception"] = without_secrets(_cut(trace, LONGEST_TRACE))
        return told

    def _trace(self, record: logging.LogRecord) -> str:
        found = self.formatException(record.exc_info) if record.exc_info else ""
        return "\n".join(filter(None, (found, record.stack_info)))


class JsonLines(_Lines):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """A lone surrogate is escaped, so that any file takes the line."""
        return json.dumps(self.said(record), ensure_ascii=True, default=str)


class KeyValueLines(_Lines):
    """For people who develop: level, message, `key=value`, and traces as they are."""

    def format(self, record: logging.LogRecord) -> str:
        """The time without its date."""
        said = self.said(record)
        ids = "".join(f" {name}={said[name]}" for name in IDS if name in said)
        time = said["time"][11:23]
        line = f"{time} {said['level']} {said['logger']} {said['message']}{ids}"
        return f"{line}\n{said['exception']}" if "exception" in said else line


def lines() -> logging.Formatter:
    """How this process writes its lines; the web server's own parent, which has no Django, asks."""
    return KeyValueLines() if env.flag("DEBUG") else JsonLines()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def config(level: str, *, formatter: type[logging.Formatter]) -> dict[str, Any]:
    """The logging of every process of the product."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "context": {"()": "agentadmin.logs.ContextFilter"},
            "readiness": {"()": "agentadmin.trace.ReadinessFilter"},
        },
        "formatters": {"line": {"()": formatter}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["context"],
            },
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # What a library would say at lower levels is every request, with its body.
            **{name: {"level": "WARNING"} for name in _TALKATIVE},
            "django.request": {"level": "ERROR", "filters": ["readiness"]},
        },
    }


_TALKATIVE = ("httpx", "httpcore", "openai", "anthropic", "django.db.backends", "asyncio", "mcp")
