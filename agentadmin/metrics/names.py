"""Every metric that processes count: its name, what it tells, its labels, its buckets."""

from __future__ import annotations

from dataclasses import dataclass

from agentadmin.metrics.book import BOOK

FAST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SLOW = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
OTHER = "other"
MOST_VALUES = 200


@dataclass(frozen=True, slots=True)
class Counter:
    """Only grows."""

    name: str
    help: str
    labels: tuple[str, ...] = ()

    def add(self, *values: str, by: float = 1) -> None:
        """Count something; values stand in the order of the labels."""
        BOOK.add((self.name, *values), by)


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often something took how long, in seconds."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = FAST

    def observe(self, seconds: float, *values: str) -> None:
        """Count one duration in the first bucket that holds it."""
        bucket = next((str(most) for most in self.buckets if seconds <= most), "+Inf")
        BOOK.add((self.name, *values, bucket), 1)
        BOOK.add((self.name, *values, "sum"), seconds)


REQUESTS = Counter(
    "agentadmin_http_requests_total", "Requests answered", ("method", "route", "status")
)
REQUEST_SECONDS = Histogram(
    "agentadmin_http_request_seconds", "Until the answer began", ("method", "route")
)
RUNS = Counter("agentadmin_runs_total", "Runs that have ended, by how", ("status",))
TURN_SECONDS = Histogram(
    "agentadmin_run_seconds", "From a run's begin to its end", ("status",), SLOW
)
MODEL_CALLS = Counter("agentadmin_model_calls_total", "Calls of models", ("agent",))
MODEL_SECONDS = Histogram("agentadmin_model_seconds", "Length of model calls", ("agent",), SLOW)
MODEL_TOKENS = Counter("agentadmin_model_tokens_total", "Tokens used", ("agent", "direction"))
MODEL_ERRORS = Counter("agentadmin_model_errors_total", "Runs that a model failed", ("agent",))
TOOL_CALLS = Counter("agentadmin_tool_calls_total", "Tool calls that ended", ("tool", "state"))
TOOL_SECONDS = Histogram("agentadmin_tool_seconds", "Length of tool calls", ("tool",), SLOW)
TAKEOVERS = Counter("agentadmin_lease_takeovers_total", "Runs whose worker was lost")

COUNTERS = (REQUESTS, RUNS, MODEL_CALLS, MODEL_TOKENS, MODEL_ERRORS, TOOL_CALLS, TAKEOVERS)
HISTOGRAMS = (REQUEST_SECONDS, TURN_SECONDS, MODEL_SECONDS, TOOL_SECONDS)

_known: dict[str, set[str]] = {}


def few(label: str, value: str) -> str:
    """The value, or `other` once a label has had too many: names may come from outside."""
    known = _known.setdefault(label, set())
    if value in known:
        return value
    if len(known) >= MOST_VALUES or len(value) > 100:
        return OTHER
    known.add(value)
    return value
