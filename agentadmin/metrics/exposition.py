"""Prometheus' text: the counts of all processes from Redis, and what the database tells."""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError
from django.utils.module_loading import import_string
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from redis.exceptions import RedisError

from agentadmin.metrics.book import BOOK, COUNTS, PROCESSES, STALE
from agentadmin.metrics.names import COUNTERS, HISTOGRAMS
from agentadmin.redis import commands_sync

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentadmin.metrics.book import Key
    from agentadmin.metrics.names import Counter, Histogram

log = logging.getLogger(__name__)
BUILD = "agentadmin_up"


def text() -> bytes:
    """The whole document; a part that cannot be asked is left out, and `agentadmin_up` says so."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Everything())
    return generate_latest(registry)


class Everything:
    """One scrape."""

    def collect(self) -> Iterator[Metric]:
        """In the order of the declarations."""
        up = GaugeMetricFamily(BUILD, "Whether this part could be asked", labels=["part"])
        try:
            counts, processes = _read()
            up.add_metric(["redis"], 1)
        except (RedisError, OSError):
            counts, processes = {}, {}
            up.add_metric(["redis"], 0)
        yield from _counted(counts)
        yield from _processes(processes)
        try:
            for source in settings.METRIC_SOURCES:
                yield from import_string(source)()
            up.add_metric(["database"], 1)
        except DatabaseError as error:
            log.warning("metrics: the database does not answer: %s", error)
            up.add_metric(["database"], 0)
        yield up


def _read() -> tuple[dict[Key, float], dict[str, Any]]:
    BOOK.flush()
    with commands_sync() as client:
        raw: Any = client.hgetall(COUNTS)
        told: Any = client.hgetall(PROCESSES)
        processes = {name.decode(): json.loads(value) for name, value in told.items()}
        gone = [name for name, each in processes.items() if time.time() - each["at"] > STALE]
        if gone:
            client.hdel(PROCESSES, *gone)
    counts = {tuple(json.loads(key)): float(value) for key, value in raw.items()}
    return counts, {name: each for name, each in processes.items() if name not in gone}


def _counted(counts: dict[Key, float]) -> Iterator[Metric]:
    by_name: dict[str, dict[Key, float]] = defaultdict(dict)
    for key, count in counts.items():
        by_name[key[0]][key[1:]] = count
    for counter in COUNTERS:
        yield _counter(counter, by_name[counter.name])
    for histogram in HISTOGRAMS:
        yield _histogram(histogram, by_name[histogram.name])


def _counter(counter: Counter, found: dict[Key, float]) -> Metric:
    family = CounterMetricFamily(counter.name, counter.help, labels=counter.labels)
    if not counter.labels:
        found = {(): 0.0, **found}
    for values, count in sorted(found.items()):
        family.add_metric(values, count)
    return family


def _histogram(histogram: Histogram, found: dict[Key, float]) -> Metric:
    family = HistogramMetricFamily(histogram.name, histogram.help, labels=histogram.labels)
    series: dict[Key, dict[str, float]] = defaultdict(dict)
    for key, count in found.items():
        series[key[:-1]][key[-1]] = count
    for values, parts in sorted(series.items()):
        total, buckets = 0.0, []
        for most in (*map(str, histogram.buckets), "+Inf"):
            total += parts.get(most, 0.0)
            buckets.append((most, total))
        family.add_metric(values, buckets, parts.get("sum", 0.0))
    return family


def _processes(processes: dict[str, Any]) -> Iterator[Metric]:
    memory = GaugeMetricFamily(
        "agentadmin_process_memory_bytes", "Resident memory", labels=["process", "role"]
    )
    sockets = GaugeMetricFamily(
        "agentadmin_live_sockets", "Open websockets and event streams", labels=["process"]
    )
    for name, each in sorted(processes.items()):
        memory.add_metric([name, each["role"]], each["memory"])
        if "sockets" in each:
            sockets.add_metric([name], each["sockets"])
    yield memory
    yield sockets


def gauge(name: str, help: str, label: str, values: Iterable[tuple[str, float]]) -> Metric:
    """A gauge with one label, for the sources that the settings name."""
    family = GaugeMetricFamily(name, help, labels=[label])
    for value, number in values:
        family.add_metric([value], number)
    return family
