"""One table from errors to HTTP, and every error of the API in its shape."""

import json
import re

import pytest
from django.test import AsyncClient, Client

from agentadmin import problems
from agentadmin.engine import errors


def tree(root: type[errors.AgentAdminError]) -> set[type[errors.AgentAdminError]]:
    below = (tree(cls) for cls in root.__subclasses__())
    return {root}.union(*below)


def test_every_error_of_the_engine_has_a_row_of_its_own() -> None:
    engine = {c for c in tree(errors.AgentAdminError) if c.__module__.startswith(errors.__name__)}
    assert engine <= set(problems.TABLE)


def test_codes_are_told_apart() -> None:
    codes = [cls.code for cls in problems.TABLE]
    assert len(codes) == len(set(codes))


def test_only_our_own_failures_are_server_errors() -> None:
    ours = {cls.code for cls, (status, _) in problems.TABLE.items() if status >= 500}
    assert ours == {
        "error", "fenced", "state_unreadable", "model_error", "context_overflow", "tool_error",
        "shutting_down",
    }  # fmt: skip


def test_a_subclass_without_a_row_answers_as_its_parent() -> None:
    class Peculiar(errors.NotFound):
        """An error of somebody else's package."""

    assert problems.row(Peculiar("gone")) == problems.TABLE[errors.NotFound]


def test_a_problem_carries_what_the_error_adds_and_never_loses_its_own_keys() -> None:
    document = problems.problem(409, "stale_version", "x", extra={"current": 4, "status": "mine"})
    assert (document["current"], document["status"]) == (4, 409)


def test_an_unknown_address_of_the_api_is_a_problem(client: Client) -> None:
    answer = client.get("/api/nowhere")
    body = json.loads(answer.content)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (body["status"], body["code"]) == (404, "not_found")
    assert body["trace_id"] == answer.headers["X-Trace-Id"]


async def test_it_is_one_under_the_asynchronous_server_too(async_client: AsyncClient) -> None:
    answer = await async_client.get("/api/nowhere")
    body = json.loads(answer.content)
    assert body["trace_id"] == answer.headers["X-Trace-Id"]


def test_a_page_that_is_missing_stays_a_page(client: Client) -> None:
    assert client.get("/nowhere").headers["Content-Type"].startswith("text/html")


def test_a_trace_goes_on_when_the_caller_brings_one(client: Client) -> None:
    assert client.get("/healthz", headers={"X-Trace-Id": "abc-12345"})["X-Trace-Id"] == "abc-12345"


@pytest.mark.parametrize("offered", ["short", "x" * 65, "with space 123", "<script>alert"])
def test_a_trace_that_could_mislead_is_replaced(client: Client, offered: str) -> None:
    given = client.get("/healthz", headers={"X-Trace-Id": offered})["X-Trace-Id"]
    assert re.fullmatch("[0-9a-f]{32}", given)
