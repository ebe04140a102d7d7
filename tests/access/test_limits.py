"""Rate limits: each token and account for itself, reads apart from writes, also without Redis."""

from typing import Any

import pytest
from django.test import Client

from agentadmin.access import limits
from agentadmin.access.limits import OwnBuckets
from agentadmin.access.tokens import create_token
from tests.access.conftest import PASSWORD, SYSTEM, People

pytestmark = pytest.mark.django_db
WRITES, SLOW = 3, 0.001


@pytest.fixture
def few(settings: Any) -> None:
    """Three writes, then one in a quarter of an hour."""
    settings.RATE_LIMITS = {"writes": (SLOW, WRITES), "reads": (SLOW, 5)}


def program(people: People, name: str = "operator") -> Client:
    secret = create_token(actor=SYSTEM, user=people[name]).secret
    return Client(headers={"Authorization": f"Bearer {secret}"})


def write(client: Client) -> Any:
    return client.post("/api/v1/sessions", "{", "application/json")


def test_beyond_the_burst_a_token_is_told_when_to_come_back(people: People, few: None) -> None:
    client = program(people)
    assert [write(client).status_code for _ in range(WRITES)] == [422] * WRITES
    refused = write(client)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert 900 < int(refused["Retry-After"]) <= 1000
    assert client.get("/api/v1/sessions").status_code == 200
    assert write(program(people)).status_code == 422


def test_reads_have_a_bucket_of_their_own(people: People, few: None) -> None:
    client = program(people)
    found = [client.get("/api/v1/sessions").status_code for _ in range(6)]
    assert found == [200] * 5 + [429]


def test_forms_of_a_browser_are_counted_for_its_account(people: People, few: None) -> None:
    client = Client()
    client.force_login(people["stranger"])
    given = {"current": PASSWORD, "new": "x", "again": "y"}
    found = [client.post("/me/password", given) for _ in range(WRITES + 1)]
    assert [answer.status_code for answer in found] == [422] * WRITES + [429]
    assert found[-1]["Retry-After"]
    assert client.get("/me").status_code == 200


def test_a_bucket_fills_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [100.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: at[0])
    buckets = OwnBuckets()
    assert [buckets.take("k", 4, 2) for _ in range(3)] == [0, 0, 250]
    at[0] += 0.25
    assert [buckets.take("k", 4, 2) for _ in range(2)] == [0, 250]
    at[0] += 3600
    assert [buckets.take("k", 4, 2) for _ in range(3)] == [0, 0, 250]


def test_without_redis_each_process_counts_for_itself(
    people: People, few: None, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    client = program(people)
    assert [write(client).status_code for _ in range(4)] == [422, 422, 422, 429]
    assert caplog.text.count("Redis does not answer") == 1


def test_the_contract_leaves_every_token_two_hundred_writes_a_second(settings: Any) -> None:
    rate, burst = settings.RATE_LIMITS["writes"]
    assert rate >= 200
    assert burst >= 400
    assert settings.RATE_LIMITS["reads"][0] >= rate
    assert settings.RATE_LIMITS["reads"][1] >= burst
