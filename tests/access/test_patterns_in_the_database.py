"""The database finds the rows that memory would."""

import pytest

from agentadmin.access.actor import Actor, ActorKind, Grant
from agentadmin.access.models import RoleAssignment
from agentadmin.access.patterns import matches, pattern_filter
from agentadmin.access.permissions import permissions_of
from tests.access.conftest import People

pytestmark = pytest.mark.django_db
NAMES = ["team-a", "TEAM-A", "team.a", "a_b", "a%b", "axb", "擅长", "a\\b", "a^b", "a b", "😀x"]
PATTERNS = [*NAMES, "*", "team-*", "*-a", "a*b", "a_*", "*%*", "擅*", "a\\*", "^*", "nothing*"]


@pytest.fixture
def rows(people: People) -> None:
    RoleAssignment.objects.bulk_create(
        RoleAssignment(user=people["viewer"], role="x", namespace=name) for name in NAMES
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_finds_in_the_database_what_it_names_in_memory(rows: None, pattern: str) -> None:
    found = RoleAssignment.objects.filter(pattern_filter("namespace", pattern), role="x")
    expected = {name for name in NAMES if matches(pattern, name)}
    assert set(found.values_list("namespace", flat=True)) == expected


def test_visible_rows_are_the_union_of_the_places(rows: None) -> None:
    viewer = permissions_of("viewer")
    who = Actor(
        kind=ActorKind.USER,
        grants=(Grant(viewer, "team-a"), Grant(viewer, "a*"), Grant(frozenset(), "*")),
    )
    found = RoleAssignment.objects.filter(who.visible(agent=None), role="x")
    expected = {name for name in NAMES if name == "team-a" or name.startswith("a")}
    assert set(found.values_list("namespace", flat=True)) == expected


def test_whoever_may_nothing_sees_nothing(rows: None) -> None:
    assert not RoleAssignment.objects.filter(Actor.anonymous().visible(agent=None)).exists()
    everywhere = Actor.system("sweep").visible(agent=None)
    assert RoleAssignment.objects.filter(everywhere, role="x").count() == len(NAMES)


def test_a_bound_token_is_held_to_its_user(rows: None) -> None:
    grant = Grant(permissions_of("admin"))
    bound = Actor(kind=ActorKind.TOKEN, grants=(grant,), bound_user_id="team-a")
    found = RoleAssignment.objects.filter(bound.visible(agent=None, user="namespace"), role="x")
    assert found.count() == 1
    assert not RoleAssignment.objects.filter(bound.visible(agent=None)).exists()
