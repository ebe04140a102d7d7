"""Grants hold where their patterns say, and a foreign row does not exist."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentadmin.access.actor import Actor, ActorKind, Grant
from agentadmin.access.patterns import matches
from agentadmin.access.permissions import permissions_of
from agentadmin.engine.clock import now
from agentadmin.engine.errors import Forbidden, NotAuthenticated, NotFound, StepUpRequired


def actor(*grants: Grant, **given: object) -> Actor:
    return Actor(kind=ActorKind.USER, id="1", name="ann", grants=grants, **given)  # type: ignore[arg-type]


OPERATOR_A = Grant(permissions_of("operator"), "team-a", "billing-*")
VIEWER_B = Grant(permissions_of("viewer"), "team-b", "*")
BOTH = actor(OPERATOR_A, VIEWER_B)


@pytest.mark.parametrize(
    ("permission", "namespace", "agent", "answer"),
    [
        ("sessions:clear", "team-a", "billing-1", True),
        ("sessions:clear", "team-a", "demo", False),
        ("sessions:clear", "team-b", "billing-1", False),
        ("sessions:read", "team-b", "demo", True),
        ("sessions:read", "TEAM-B", "demo", False),
        ("sessions:clear", None, None, True),
        ("sessions:erase", None, None, False),
    ],
)
def test_one_roles_place_is_not_the_other_roles(
    permission: str, namespace: str | None, agent: str | None, answer: bool
) -> None:
    assert BOTH.may(permission, namespace, agent) is answer


def test_a_seen_row_may_be_refused_and_a_foreign_one_is_not_found() -> None:
    place = {"agent_id": "demo", "user_id": None}
    with pytest.raises(Forbidden) as refused:
        BOTH.require_row("sessions:clear", namespace="team-b", agent_id="demo", user_id=None)
    assert refused.value.permission == "sessions:clear"
    with pytest.raises(NotFound):
        BOTH.require_row("sessions:clear", namespace="team-c", agent_id="demo", user_id=None)
    with pytest.raises(NotAuthenticated):
        Actor.anonymous().require_row("sessions:read", namespace="team-b", **place)  # type: ignore[arg-type]


def test_a_bound_token_sees_its_own_user_only() -> None:
    bound = actor(Grant(permissions_of("admin")), bound_user_id="bob")
    assert bound.sees(namespace="x", user_id="bob")
    assert not bound.sees(namespace="x", user_id="carol")
    assert not bound.sees(namespace="x", user_id=None)


def test_global_things_are_not_for_who_holds_them_in_one_place() -> None:
    here = actor(Grant(permissions_of("admin"), "team-a"))
    assert here.may("tokens:manage")
    with pytest.raises(Forbidden, match="everywhere"):
        here.require_everywhere("tokens:manage")
    actor(Grant(permissions_of("admin"))).require_everywhere("tokens:manage")


def test_widening_needs_a_fresh_sign_in_of_a_person_and_a_scope_of_a_token() -> None:
    grant = Grant(permissions_of("operator"))
    fresh = now() + timedelta(minutes=1)
    stale = now() - timedelta(seconds=1)
    actor(grant, fresh_until=fresh).require_widening(namespace="x")
    for until in (None, stale):
        with pytest.raises(StepUpRequired):
            actor(grant, fresh_until=until).require_widening(namespace="x")
    token = Actor(kind=ActorKind.TOKEN, id="1", name="ann", grants=(grant,))
    token.require_widening(namespace="x")
    narrow = grant.within(frozenset({"permissions:edit"}))
    with pytest.raises(Forbidden):
        Actor(kind=ActorKind.TOKEN, grants=(narrow,)).require_widening(namespace="x")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.text(max_size=3))
def test_a_pattern_without_a_star_names_itself_only(text: str, more: str) -> None:
    pattern = text.replace("*", "")
    assert matches(pattern, pattern)
    assert matches(pattern, pattern + more) is (more == "")
    assert matches(pattern + "*", pattern + more)
    assert matches("*", text)
