"""Metrics: counted in memory, kept in Redis for all processes, told in Prometheus' text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from agentadmin.access.actor import Actor
from agentadmin.metrics import exposition, names
from agentadmin.metrics.book import BOOK, COUNTS, Book, resident_bytes
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread
from tests.runs.conftest import actor, cold_cache, keeper, no_messages, thread, work  # noqa: F401

Labels = frozenset[tuple[str, str]]


@pytest.fixture(autouse=True)
def nothing_counted(redis_client: Any) -> Iterator[None]:
    BOOK._news.clear()
    yield
    BOOK._news.clear()


def told() -> dict[tuple[str, Labels], float]:
    """Every sample of a scrape by its name and labels."""
    text = Client().get("/metrics").content.decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def labels(**values: str) -> Labels:
    return frozenset(values.items())


@pytest.mark.django_db
def test_requests_are_counted_by_route_method_and_status() -> None:
    client = Client()
    for _ in range(3):
        client.get("/healthz")
    client.get("/api/v1/threads/01a232c0-1dc1-70df-99c0-39f1b9b972d9")
    client.get("/no/such/page?q=1")
    found = told()
    of = "agentadmin_http_requests_total"
    assert found[of, labels(method="GET", route="/healthz", status="200")] == 3
    route = "/api/v1/threads/<thread_id>"
    assert found[of, labels(method="GET", route=route, status="401")] == 1
    assert found[of, labels(method="GET", route="none", status="404")] == 1
    seconds = "agentadmin_http_request_seconds"
    assert found[f"{seconds}_count", labels(method="GET", route="/healthz")] == 3
    last = labels(method="GET", route="/healthz", le="+Inf")
    assert found[f"{seconds}_bucket", last] == 3


@pytest.mark.django_db(transaction=True)
def test_a_run_is_counted_with_its_tokens_tools_and_duration(
    thread: AgentThread,  # noqa: F811
    actor: Actor,  # noqa: F811
    work: Any,  # noqa: F811
) -> None:
    for text in ('/tool calculator {"expression": "1+1"}', "/fail permanent", "/tool ask_user {}"):
        submit_turn(actor=actor, thread=thread, input=text)
    assert told()["agentadmin_turns_queued", labels(of="runnable threads")] == 3
    work(thread)
    found = told()
    assert found["agentadmin_runs_total", labels(status="completed")] >= 1
    assert found["agentadmin_runs_total", labels(status="failed")] == 1
    assert found["agentadmin_run_seconds_count", labels(status="failed")] == 1
    assert found["agentadmin_model_errors_total", labels(agent="demo")] == 1
    assert found["agentadmin_model_calls_total", labels(agent="demo")] >= 3
    assert found["agentadmin_model_tokens_total", labels(agent="demo", direction="input")] > 0
    calculator = labels(tool="calculator", state="success")
    assert found["agentadmin_tool_calls_total", calculator] == 1
    assert found["agentadmin_tool_seconds_count", labels(tool="calculator")] == 1
    assert found["agentadmin_lease_takeovers_total", labels()] == 0
    assert found["agentadmin_up", labels(part="database")] == 1


@pytest.mark.django_db
def test_processes_add_up_and_tell_of_their_memory_and_sockets() -> None:
    other = Book()
    other._role = "worker"
    other.gauge("sockets", lambda: 7.0)
    other.add((names.RUNS.name, "lost"), 2)
    names.RUNS.add("lost")
    other.flush()
    found = told()
    assert found["agentadmin_runs_total", labels(status="lost")] == 3
    memory = [value for (name, _), value in found.items() if name.endswith("memory_bytes")]
    assert sorted(memory)[-1] > 10_000_000 <= resident_bytes()
    assert found["agentadmin_live_sockets", labels(process=other.name)] == 7


@pytest.mark.django_db
def test_counts_wait_for_a_redis_that_is_away(redis_client: Any, settings: Any) -> None:
    url, settings.REDIS_URL = settings.REDIS_URL, "redis://127.0.0.1:1/0"
    names.RUNS.add("completed")
    assert told()["agentadmin_up", labels(part="redis")] == 0
    assert redis_client.hlen(COUNTS) == 0
    settings.REDIS_URL = url
    assert told()["agentadmin_runs_total", labels(status="completed")] == 1


def test_names_from_outside_do_not_fill_the_memory() -> None:
    names._known.pop("test", None)
    said = {names.few("test", f"tool-{n}") for n in range(1000)}
    assert len(said) == names.MOST_VALUES + 1
    assert names.few("test", "tool-1") == "tool-1"
    assert names.few("test", "x" * 101) == names.OTHER


@pytest.mark.django_db
def test_a_hostile_label_is_escaped() -> None:
    names.TOOL_CALLS.add('a"b\n\\', "success")
    assert b'tool="a\\"b\\n\\\\"' in exposition.text()


def test_the_readme_names_every_metric() -> None:
    told = (Path(django_settings.BASE_DIR) / "README.md").read_text()
    missing = [each.name for each in (*names.COUNTERS, *names.HISTOGRAMS) if each.name not in told]
    assert missing == []
