"""Lists are keyset pages, filtered, and within what the reader may see."""

import pytest
from django.db.models import Q

from agentadmin.access.actor import Actor, ActorKind, Grant
from agentadmin.access.permissions import permissions_of
from agentadmin.audit.erase import erase_bodies
from agentadmin.audit.format import Outcome
from agentadmin.audit.selectors import (
    Filters,
    audit_page,
    entry_detail,
    entry_document,
    list_item,
    verify_visible,
)
from agentadmin.engine.errors import BadCursor, Forbidden, InvalidInput, NotFound
from tests.audit.conftest import Write

pytestmark = pytest.mark.django_db


def reader(*places: tuple[str, str], role: str = "auditor") -> Actor:
    grants = tuple(Grant(permissions_of(role), *place) for place in places or [("*", "*")])
    return Actor(kind=ActorKind.USER, id="1", name="ann", grants=grants)


def found(who: Actor, **filters: str) -> list[str]:
    return [entry.target for entry in audit_page(who, Filters(**filters)).items]


@pytest.fixture(autouse=True)
def entries(write: Write) -> None:
    write(target_id="a", namespace="team-a", agent_id="billing-1", reason="too slow")
    write(target_id="b", namespace="team-b", agent_id="demo", action="runs.interrupt")
    write(target_id="c", namespace="TEAM-A", agent_id="demo", outcome=Outcome.DENIED)
    write(target_id="d", namespace=None, agent_id="", label="擅长")


def test_newest_first_and_every_entry_once_over_pages() -> None:
    seen, cursor = [], None
    while True:
        page = audit_page(reader(), Filters(), cursor=cursor, limit=3)
        seen += [entry.target for entry in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == ["session:d", "session:c", "session:b", "session:a"]


def test_a_page_does_not_shift_when_entries_arrive(write: Write) -> None:
    first = audit_page(reader(), Filters(), limit=2)
    write(target_id="e")
    second = audit_page(reader(), Filters(), cursor=first.next_cursor, limit=2)
    assert [entry.target for entry in second.items] == ["session:b", "session:a"]


@pytest.mark.parametrize(
    ("filters", "targets"),
    [
        ({"outcome": "denied"}, ["c"]),
        ({"action": "runs.interrupt"}, ["b"]),
        ({"actor": "alice", "q": "SLOW too"}, ["a"]),
        ({"actor": "nobody"}, []),
        ({"q": "擅长"}, ["d"]),
        ({"q": "100%"}, []),
        ({"q": "\0"}, []),
        ({"target": "a"}, ["a"]),
        ({"target": "session:b"}, ["b"]),
        ({"within": "c"}, ["c"]),
    ],
)
def test_filters_narrow(filters: dict[str, str], targets: list[str]) -> None:
    assert found(reader(), **filters) == [f"session:{target}" for target in targets]


@pytest.mark.parametrize(
    ("places", "targets"),
    [
        ([("team-a", "*")], ["a"]),
        ([("team-*", "*")], ["b", "a"]),
        ([("*", "demo")], ["c", "b"]),
        ([("team-a", "billing-*")], ["a"]),
        ([("team-a", "demo")], []),
        ([("team-a", "*"), ("team-b", "demo")], ["b", "a"]),
        ([("nowhere", "*")], []),
    ],
)
def test_a_reader_sees_their_places_and_no_other(
    places: list[tuple[str, str]], targets: list[str]
) -> None:
    assert found(reader(*places)) == [f"session:{target}" for target in targets]


def test_a_viewer_is_refused_and_a_foreign_entry_is_not_found(write: Write) -> None:
    entry = write(namespace="team-a")
    with pytest.raises(Forbidden) as refused:
        audit_page(reader(role="viewer"), Filters())
    assert refused.value.permission == "audit:read"
    assert entry_detail(reader(("team-a", "*")), str(entry.id)).id == entry.id
    for who, wanted in [(reader(("team-b", "*")), str(entry.id)), (reader(), "no uuid")]:
        with pytest.raises(NotFound):
            entry_detail(who, wanted)


@pytest.mark.parametrize("limit", [0, -1, 201, 10**30])
def test_an_impossible_limit_is_named(limit: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        audit_page(reader(), Filters(), limit=limit)
    assert refused.value.path == "limit"


def test_a_made_up_cursor_and_outcome_are_named() -> None:
    with pytest.raises(BadCursor):
        audit_page(reader(), Filters(), cursor="17")
    with pytest.raises(InvalidInput) as refused:
        audit_page(reader(), Filters(outcome="maybe"))
    assert refused.value.path == "outcome"


def test_an_entry_tells_everything_and_an_erased_one_what_is_left(write: Write) -> None:
    entry = entry_detail(reader(), str(write(reason="why not").id))
    document = entry_document(entry)
    assert document["reason"] == "why not"
    assert document["content"]["after"] == {"messages": 0}
    assert document["address"] == "192.0.2.1"
    assert list_item(entry)["target_label"] == "bob / holiday"
    erase_bodies(Q(id=entry.id))
    entry.refresh_from_db()
    document = entry_document(entry)
    assert document["erased"]
    assert document["reason"] is document["target"]["label"] is document["content"] is None
    assert document["actor"]["name"] == "alice"


def test_a_reader_verifies_their_own_chains() -> None:
    assert verify_visible(reader(("team-*", "*")))["checked"] == 2
    assert verify_visible(reader())["checked"] == 4
