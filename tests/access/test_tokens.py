"""Tokens are shown once, stay within their user, end when they should, and are revocable."""

from datetime import timedelta

import pytest

from agentadmin.access import tokens
from agentadmin.access.actor import Actor, ActorKind
from agentadmin.access.authentication import actor_from_scope
from agentadmin.access.errors import TokenExpired, TokenInvalid, TokenRevoked
from agentadmin.access.models import ApiToken
from agentadmin.access.selectors import grants_of, token_page
from agentadmin.access.services import grant_role, withdraw_role
from agentadmin.access.tokens import authenticate_token, create_token, revoke_token, scopes_of
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.clock import now
from agentadmin.engine.errors import AgentAdminError, Forbidden, InvalidInput, NotFound
from tests.access.conftest import SYSTEM, Bearer, People

pytestmark = pytest.mark.django_db


def acting(people: People, name: str, **given: object) -> Actor:
    user = people[name]
    grants = grants_of(user)
    return Actor(kind=ActorKind.USER, id=str(user.pk), name=name, grants=grants, **given)  # type: ignore[arg-type]


def test_only_the_hash_is_kept(people: People) -> None:
    made = create_token(actor=SYSTEM, user=people["operator"])
    assert made.secret.startswith("aa_")
    stored = " ".join(str(value) for value in ApiToken.objects.values_list().get())
    audited = " ".join(entry.header + str(entry.body) for entry in AuditEntry.objects.all())
    assert made.secret not in stored + audited
    assert made.secret.startswith(made.token.prefix)


def test_by_default_a_token_may_what_its_user_may_widening_included(people: People) -> None:
    made = create_token(actor=SYSTEM, user=people["operator"])
    presented = authenticate_token(made.secret)
    assert "permissions:widen" in scopes_of(made.token)
    assert presented.grants == grants_of(people["operator"])


def test_a_token_never_exceeds_its_scopes_nor_what_its_user_has_left(people: People) -> None:
    scopes = ["sessions:read", "sessions:clear"]
    made = create_token(actor=SYSTEM, user=people["operator"], scopes=scopes)
    (grant,) = authenticate_token(made.secret).grants
    assert grant.permissions == set(scopes)
    assert grant.namespace == "team-*"
    role = {"role": "operator", "namespace": "team-*"}
    withdraw_role(actor=SYSTEM, user=people["operator"], **role)
    assert authenticate_token(made.secret).grants == ()
    grant_role(actor=SYSTEM, user=people["operator"], role="viewer")
    (grant,) = authenticate_token(made.secret).grants
    assert grant.permissions == {"sessions:read"}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"scopes": ["sessions:fly"]}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"days": 0}, "days"),
        ({"days": 91}, "days"),
        ({"days": -(10**30)}, "days"),
        ({"bound_user_id": " "}, "bound_user_id"),
        ({"bound_user_id": "x" * 257}, "bound_user_id"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0b"}, "name"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(
    people: People, given: dict[str, object], path: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        create_token(actor=SYSTEM, user=people["operator"], **given)  # type: ignore[arg-type]
    assert refused.value.path == path
    assert not ApiToken.objects.exists()


def test_nobody_makes_a_token_that_exceeds_them(people: People) -> None:
    viewer = acting(people, "viewer")
    with pytest.raises(Forbidden):
        create_token(actor=viewer, user=people["viewer"], scopes=["sessions:erase"])
    with pytest.raises(Forbidden):
        create_token(actor=viewer, user=people["operator"])
    bound = acting(people, "operator", bound_user_id="bob")
    with pytest.raises(Forbidden):
        create_token(actor=bound, user=people["operator"])
    narrow = Actor(
        kind=ActorKind.TOKEN,
        id=str(people["operator"].pk),
        grants=tuple(
            grant.within(frozenset({"tokens:own", "sessions:read"}))
            for grant in grants_of(people["operator"])
        ),
    )
    made = create_token(actor=narrow, user=people["operator"])
    assert scopes_of(made.token) == {"tokens:own", "sessions:read"}


def test_an_expired_a_revoked_and_an_unknown_token_are_told_apart(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def problem(secret: str) -> type[AgentAdminError]:
        with pytest.raises(AgentAdminError) as refused:
            authenticate_token(secret)
        return type(refused.value)

    revoked = create_token(actor=SYSTEM, user=people["viewer"])
    revoke_token(actor=SYSTEM, token_id=str(revoked.token.pk))
    assert problem(revoked.secret) is TokenRevoked
    fresh = create_token(actor=SYSTEM, user=people["viewer"], days=1)
    monkeypatch.setattr(tokens, "now", lambda: now() + timedelta(days=1))
    assert problem(fresh.secret) is TokenExpired
    assert problem(fresh.secret[:-1]) is TokenInvalid
    assert problem("aa_\ud800") is TokenInvalid


def test_an_expired_token_gets_401_with_its_code(
    bearer: Bearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = bearer("viewer")
    monkeypatch.setattr(tokens, "now", lambda: now() + timedelta(days=91))
    answer = client.get("/api/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_expired")


def test_a_revoked_token_stops_at_once_on_sockets_too(bearer: Bearer) -> None:
    client = bearer("viewer")
    header = client.defaults["HTTP_AUTHORIZATION"].encode()
    scope = {"headers": [(b"authorization", header)], "client": ("192.0.2.7", 1)}
    assert actor_from_scope(scope).address == "192.0.2.7"
    revoke_token(actor=SYSTEM, token_id=str(ApiToken.objects.get().pk))
    with pytest.raises(TokenRevoked):
        actor_from_scope(scope)
    assert client.get("/api/v1/me").json()["code"] == "token_revoked"


def test_people_see_and_revoke_their_own_tokens_and_an_admin_everybodys(people: People) -> None:
    made = create_token(actor=SYSTEM, user=people["operator"])
    viewer, operator, admin = (acting(people, who) for who in ("viewer", "operator", "admin"))
    assert [len(token_page(who).items) for who in (viewer, operator, admin)] == [0, 1, 1]
    with pytest.raises(NotFound):
        revoke_token(actor=viewer, token_id=str(made.token.pk))
    with pytest.raises(NotFound):
        revoke_token(actor=admin, token_id="no uuid")
    first = revoke_token(actor=operator, token_id=str(made.token.pk)).revoked_at
    again = revoke_token(actor=admin, token_id=str(made.token.pk)).revoked_at
    assert first == again
    assert AuditEntry.objects.filter(action="tokens.revoke").count() == 1


def test_the_last_use_is_noted_at_most_once_a_minute(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create_token(actor=SYSTEM, user=people["viewer"])
    start = now()
    for seconds in (0, 30, 59, 61):
        moment = start + timedelta(seconds=seconds)
        monkeypatch.setattr(tokens, "now", lambda moment=moment: moment)
        authenticate_token(made.secret)
        used = ApiToken.objects.get().last_used_at
        assert used == (start if seconds < 60 else moment)
