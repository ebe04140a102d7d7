"""What is counted about runs: by the worker as they happen, and in the database when asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Count, Sum
from redis.exceptions import RedisError

from agentadmin.engine.agents.admission import RunStatus
from agentadmin.engine.events import EventType
from agentadmin.metrics import names
from agentadmin.metrics.exposition import gauge
from agentadmin.redis import commands_sync
from runs_app.models import Interaction
from runs_app.states import InteractionStatus
from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

    from agentadmin.engine.events import Event

QUEUE = "celery"


class RunMeter:
    """Counts one run: model calls, tokens, tool calls, and how it ended."""

    def __init__(self, agent_id: str, *, takeover: bool) -> None:
        self._agent = names.few("agent", agent_id)
        self._began = time.monotonic()
        self._model_began: float | None = None
        self._model_failed = False
        self._tools: dict[str, float] = {}
        if takeover:
            names.TAKEOVERS.add()

    def hear(self, event: Event) -> None:
        """Count what an event tells; most are deltas and tell nothing here."""
        match event.type:
            case EventType.MODEL_CALL_START:
                self._model_began = time.monotonic()
            case EventType.MODEL_CALL_END:
                self._model_ended(event)
            case EventType.TOOL_RESULT_START:
                self._tools[event["toolCallId"]] = time.monotonic()
            case EventType.TOOL_RESULT_END:
                self._tool_ended(event)

    def ended(self, status: str) -> None:
        """The run is over; `lost` where this worker no longer had the thread."""
        names.RUNS.add(status)
        names.TURN_SECONDS.observe(time.monotonic() - self._began, status)
        if self._model_failed and status == RunStatus.FAILED:
            names.MODEL_ERRORS.add(self._agent)

    def _model_ended(self, event: Event) -> None:
        usage = event["usage"]
        self._model_failed = usage is None
        names.MODEL_CALLS.add(self._agent)
        if self._model_began is not None:
            names.MODEL_SECONDS.observe(time.monotonic() - self._model_began, self._agent)
        if usage is not None:
            names.MODEL_TOKENS.add(self._agent, "input", by=usage["inputTokens"])
            names.MODEL_TOKENS.add(self._agent, "output", by=usage["outputTokens"])

    def _tool_ended(self, event: Event) -> None:
        tool = names.few("tool", event["toolCallName"])
        names.TOOL_CALLS.add(tool, event["state"])
        began = self._tools.pop(event["toolCallId"], None)
        if began is not None:
            names.TOOL_SECONDS.observe(time.monotonic() - began, tool)


def gauges() -> Iterator[Metric]:
    """What stands in the database now; every query reads a partial index."""
    runnable = AgentThread.objects.filter(runnable_since__isnull=False)
    found = runnable.aggregate(threads=Count("id"), turns=Sum("queued_turns"))
    active = runnable.filter(active_run_id__isnull=False).count()
    yield gauge(
        "agentadmin_threads",
        "Threads that can go on, and those of them with a run",
        "state",
        [("runnable", found["threads"]), ("running", active)],
    )
    yield gauge(
        "agentadmin_turns_queued",
        "Turns that wait behind another or for a worker",
        "of",
        [("runnable threads", found["turns"] or 0)],
    )
    asked = Interaction.objects.filter(status=InteractionStatus.PENDING)
    kinds = asked.values_list("kind").annotate(n=Count("id")).order_by("kind")
    yield gauge(
        "agentadmin_interactions_waiting", "Questions that wait for a person", "kind", kinds
    )
    yield gauge(
        "agentadmin_queue_length",
        "Messages that no worker has taken",
        "queue",
        _queue_length(),
    )


def _queue_length() -> list[tuple[str, float]]:
    if settings.BROKER_URL != settings.REDIS_URL:
        return []
    try:
        with commands_sync() as client:
            return [(QUEUE, float(client.llen(QUEUE)))]
    except (RedisError, OSError):
        return []
