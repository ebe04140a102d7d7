"""InMemoryAgentStateStore: versions, copies, lists and buckets (spec §2.1, §2.4)."""

from __future__ import annotations

import asyncio

import pytest

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.stores.base import ABSENT, CONFLICT, UNVERSIONED, Versioned
from agentadmin.engine.stores.memory import InMemoryAgentStateStore


async def test_versions_start_at_one_and_a_conflict_writes_nothing() -> None:
    store = InMemoryAgentStateStore()
    assert await store.get_versioned("u", "s", "k") == Versioned(None, ABSENT)
    assert await store.save_if_version("u", "s", "k", {"n": 1}, ABSENT) == 1
    assert await store.save_if_version("u", "s", "k", {"n": 2}, ABSENT) == CONFLICT
    assert await store.get("u", "s", "k") == {"n": 1}
    assert await store.save_if_version("u", "s", "k", {"n": 3}, UNVERSIONED) == 2
    assert await store.save("u", "s", "k", {"n": 4}) == 3


async def test_of_many_writers_with_one_expectation_exactly_one_wins() -> None:
    store = InMemoryAgentStateStore()
    saved = await asyncio.gather(
        *(store.save_if_version("u", "s", "k", n, ABSENT) for n in range(20))
    )
    assert sorted(saved) == [CONFLICT] * 19 + [1]


async def test_values_are_copies() -> None:
    store = InMemoryAgentStateStore()
    value = {"items": [1]}
    await store.save("u", "s", "k", value)
    value["items"].append(2)
    (await store.get("u", "s", "k"))["items"].append(3)
    assert await store.get("u", "s", "k") == {"items": [1]}


async def test_lists_are_kept_beside_values_and_may_be_empty() -> None:
    store = InMemoryAgentStateStore()
    await store.save_list("u", "s", "k", ["a", "b"])
    assert await store.get_list("u", "s", "k") == ["a", "b"]
    await store.save_list("u", "s", "k", [])
    assert await store.get_list("u", "s", "k") == []
    assert await store.get("u", "s", "k") is None
    assert await store.exists("u", "s")


async def test_the_anonymous_bucket_is_nobodys_name() -> None:
    store = InMemoryAgentStateStore()
    await store.save(None, "s", "k", 1)
    await store.save("__anon__", "t", "k", 2)
    assert await store.list_session_ids(None) == ["s"]
    assert await store.list_session_ids("__anon__") == ["t"]


async def test_deleting_forgets_a_key_or_the_session() -> None:
    store = InMemoryAgentStateStore()
    await store.save("u", "s", "k", 1)
    await store.save_list("u", "s", "k", [1])
    await store.delete_key("u", "s", "k")
    assert await store.get_list("u", "s", "k") == []
    assert await store.save("u", "s", "k", 2) == 1
    await store.delete("u", "s")
    assert not await store.exists("u", "s")
    assert await store.list_session_ids("u") == []


@pytest.mark.parametrize(
    ("user_id", "session_id", "key", "path"),
    [
        ("u", " ", "k", "session_id"),
        ("", "s", "k", "user_id"),
        ("u", "s", "", "key"),
    ],
)
async def test_blank_names_are_refused(user_id: str, session_id: str, key: str, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await InMemoryAgentStateStore().save(user_id, session_id, key, 1)
    assert caught.value.path == path
