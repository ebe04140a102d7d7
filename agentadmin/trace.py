"""The trace id that ties a request, its log lines, its audit entries and its run together."""

import logging
import re
import uuid
from contextvars import ContextVar

_given = re.compile(r"[0-9A-Za-z._-]{8,64}")
_current: ContextVar[str] = ContextVar("trace_id", default="-")


def trace_id() -> str:
    """The trace id of the request or task being served; `-` outside of one."""
    return _current.get()


def start_trace(offered: str = "") -> str:
    """Begin a trace in this context, or continue the one that a caller offers."""
    value = offered if _given.fullmatch(offered) else uuid.uuid4().hex
    _current.set(value)
    return value


class ReadinessFilter(logging.Filter):
    """Drops Django's error line for `/readyz`: its 503 is an answer, and names its own faults."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keeps everything else."""
        request = getattr(record, "request", None)
        return getattr(request, "path", "") != "/readyz"
