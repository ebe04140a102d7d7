"""What every state store owes (spec §2): the in-memory one and the relational one."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connections

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.stores.base import ABSENT, CONFLICT, UNVERSIONED, AgentStateStore, Versioned
from agentadmin.engine.stores.memory import InMemoryAgentStateStore
from sessions_app.state_store import DjangoAgentStateStore

pytestmark = pytest.mark.django_db

STORES: list[Callable[[], AgentStateStore]] = [InMemoryAgentStateStore, DjangoAgentStateStore]
ODD = ["a/b", "..", "a_b", "a%b", "Alice", "alice", "🙂", "__anon__", "x" * 256]


class Sync:
    """The store's methods without `await`."""

    def __init__(self, store: AgentStateStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return async_to_sync(getattr(self._store, name))


@pytest.fixture(params=STORES, ids=["memory", "django"])
def store(request: pytest.FixtureRequest) -> Sync:
    return Sync(request.param())


def test_versions_count_from_one(store: Sync) -> None:
    assert store.get_versioned(None, "s", "k") == Versioned(None, ABSENT)
    assert store.save(None, "s", "k", {"n": 1}) == 1
    assert store.save(None, "s", "k", {"n": 2}) == 2
    assert store.get_versioned(None, "s", "k") == Versioned({"n": 2}, 2)
    assert store.get(None, "s", "k") == {"n": 2}


def test_compare_and_swap_writes_only_what_it_knows(store: Sync) -> None:
    assert store.save_if_version(None, "s", "k", "a", ABSENT) == 1
    assert store.save_if_version(None, "s", "k", "b", ABSENT) == CONFLICT
    assert store.save_if_version(None, "s", "k", "c", 7) == CONFLICT
    assert store.save_if_version(None, "s", "k", "d", 1) == 2
    assert store.save_if_version(None, "s", "k", "e", UNVERSIONED) == 3
    assert store.save_if_version(None, "other", "k", "e", 4) == CONFLICT
    assert store.get(None, "s", "k") == "e"


def test_lists_and_values_of_one_key_are_two_things(store: Sync) -> None:
    store.save(None, "s", "k", 1)
    store.save_list(None, "s", "k", [1, {"a": None}])
    assert store.get(None, "s", "k") == 1
    assert store.get_list(None, "s", "k") == [1, {"a": None}]
    store.save_list(None, "s", "k", [])
    assert store.get_list(None, "s", "k") == []
    store.delete_key(None, "s", "k")
    assert store.get_versioned(None, "s", "k") == Versioned(None, ABSENT)
    assert store.get_list(None, "s", "k") == []


def test_no_two_names_share_a_slot(store: Sync) -> None:
    for number, name in enumerate(ODD):
        store.save(name, "s", "k", number)
        store.save(None, name, "k", number)
        store.save(None, "s", name, number)
    for number, name in enumerate(ODD):
        assert store.get(name, "s", "k") == number
        assert store.get(None, name, "k") == number
        assert store.get(None, "s", name) == number
        assert store.list_session_ids(name) == ["s"]
    assert store.list_session_ids(None) == sorted([*ODD, "s"])


def test_deleting_a_slot_leaves_the_others(store: Sync) -> None:
    store.save("a", "s", "k", 1)
    store.save("b", "s", "k", 2)
    store.delete("a", "s")
    assert not store.exists("a", "s")
    assert store.exists("b", "s")


def test_values_come_back_exactly(store: Sync) -> None:
    value = {"z": 10**30, "a": ["\0", "\ud800", -0.0], "": None}
    store.save(None, "s", "k", value)
    value["a"].append("mine")  # type: ignore[attr-defined]
    found = store.get(None, "s", "k")
    assert found == {"z": 10**30, "a": ["\0", "\ud800", -0.0], "": None}
    assert list(found) == ["z", "a", ""]


@pytest.mark.parametrize(
    ("slot", "path"),
    [((None, "", "k"), "session_id"), ((" ", "s", "k"), "user_id"), ((None, "s", " "), "key")],
)
def test_blank_names_are_refused(store: Sync, slot: tuple[Any, ...], path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        store.save(*slot, 1)
    assert refused.value.path == path


@pytest.mark.django_db(transaction=True)
def test_of_many_writers_each_gets_a_version_of_its_own() -> None:
    store = Sync(DjangoAgentStateStore())
    versions: list[int] = []

    def write() -> None:
        for _ in range(5):
            versions.append(store.save(None, "s", "k", 1))
        connections.close_all()

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions) == list(range(1, 31))
