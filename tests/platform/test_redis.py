"""One factory of clients, and the two spellings of a Redis address."""

import pytest

from agentadmin.redis import TIMEOUT, broker_url, commands, commands_sync, reader


@pytest.mark.parametrize(
    ("url", "kombu"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("rediss://user:word@host/1", "rediss://user:word@host/1"),
        ("sentinel://a:26379;sentinel://b:26379", "sentinel://a:26379;sentinel://b:26379"),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
        ("unix:///run/valkey.sock?db=3", "redis+socket:///run/valkey.sock?virtual_host=3"),
    ],
)
def test_kombu_gets_its_own_spelling(url: str, kombu: str) -> None:
    assert broker_url(url) == kombu


def test_commands_time_out_and_the_reader_never_does() -> None:
    assert commands().get_connection_kwargs()["socket_timeout"] == TIMEOUT
    assert reader().get_connection_kwargs()["socket_timeout"] is None


async def test_both_clients_answer() -> None:
    async with commands() as first, reader() as second:
        assert await first.set("platform:answer", "yes", ex=10)
        assert await second.get("platform:answer") == b"yes"


def test_the_synchronous_client_answers() -> None:
    with commands_sync() as client:
        assert client.ping()
