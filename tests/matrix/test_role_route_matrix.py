"""No path around authorisation: what every route answers every kind of caller is in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.test import Client

from agentadmin.access.models import ApiToken
from agentadmin.access.permissions import PERMISSIONS, permissions_of
from agentadmin.access.routes import (
    PUBLIC,
    SIGNED_IN,
    DeclaredRoute,
    routes,
    undeclared_routes,
)
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.audit import later
from agentadmin.audit.format import Outcome
from agentadmin.engine.clock import now
from runs_app.profiles import PROFILES
from runs_app.routing import websocket_urlpatterns
from tests.matrix.samples import (
    EVERYWHERE,
    FURTHER,
    NO_ROWS,
    OWNED,
    PLACED,
    Samples,
    address,
    body,
    lacking,
    parameters,
)
from tests.matrix.samples import samples as made_samples
from tests.pages.conftest import PASSWORD, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import User

    from tests.pages.conftest import Talk

ROLES = ("viewer", "auditor", "approver", "operator", "admin")
OPEN = {
    *("healthz", "readyz", "metrics", "openapi-json", "openapi-view", "api-root"),
    *("sign_in", "sign_out", "preferences", ""),
}
IN, LOGIN, DENIED, HIDDEN = "let in", "asked to sign in", "denied", "not found"
BROKEN = "broken"
API = "/api/v1/"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a client, what they may, and whether the samples' namespace is theirs."""

    name: str
    client: Client
    permissions: frozenset[str]
    is_near: bool = True
    is_known: bool = True
    is_bound: bool = False


def person(name: str, role: str, namespace: str) -> User:
    return create_user(actor=SYSTEM, name=name, password=PASSWORD, role=role, namespace=namespace)


def browser(user: User) -> Client:
    """A browser whose owner has just given the password."""
    client = Client(raise_request_exception=False)
    client.force_login(user)
    session = client.session
    session["access_fresh_at"] = now().timestamp()
    session.save()
    return client


def program(user: User, scopes: str | None = None, **given: str) -> Client:
    made = create_token(actor=SYSTEM, user=user, **given)
    if scopes is not None:
        ApiToken.objects.filter(pk=made.token.pk).update(scopes=scopes)
    return Client(raise_request_exception=False, headers={"Authorization": f"Bearer {made.secret}"})


def callers() -> Iterator[Caller]:
    """Every role with a browser, and whoever has less than a role."""
    for role in ROLES:
        yield Caller(role, browser(person(role, role, "*")), permissions_of(role))
    stranger = person("stranger", "admin", "elsewhere")
    yield Caller("stranger", browser(stranger), permissions_of("admin"), is_near=False)
    operator = person("scoped", "operator", "elsewhere")
    yield Caller("scoped token", program(operator), permissions_of("operator"), is_near=False)
    bound = person("bound", "operator", "*")
    yield Caller(
        "token of another end user",
        program(bound, bound_user_id="mallory"),
        permissions_of("operator"),
        is_near=False,
        is_bound=True,
    )
    bare = person("bare", "admin", "*")
    yield Caller("token without scopes", program(bare, "[]"), frozenset())
    yield Caller("nobody", Client(), frozenset(), is_known=False)


def expected(route: DeclaredRoute, caller: Caller) -> str:
    """What the permission table says."""
    if not caller.is_known:
        return LOGIN
    declared = route.permission or ""
    if declared != SIGNED_IN and declared not in caller.permissions:
        return DENIED
    if declared == "tokens:own" and caller.is_bound:
        return DENIED
    if declared in EVERYWHERE and not caller.is_near:
        return DENIED
    rows = [name for name in parameters(route) if name not in NO_ROWS]
    keys = {OWNED[name] for name in rows if name in OWNED}
    if keys:
        return IN if caller.is_near and keys <= caller.permissions else HIDDEN
    if rows and not caller.is_near:
        return HIDDEN
    if route.name in PLACED and not caller.is_near:
        return IN if caller.is_bound else DENIED
    further = FURTHER.get(route.name)
    return DENIED if further and further not in caller.permissions else IN


def got(answer: Any) -> str:
    """Which of the four an answer is; whatever a route says to its guests is its own affair."""
    status = answer.status_code
    if status == 401 or (status == 302 and answer["Location"].startswith("/sign-in")):
        return LOGIN
    if status >= 500:
        return BROKEN
    return {403: DENIED, 404: HIDDEN}.get(status, IN)


def ask(route: DeclaredRoute, method: str, caller: Caller, known: Samples) -> Any:
    """One request; whatever it wrote is taken back."""
    data = body(route) if route.path.startswith(API) and method != "GET" else ""
    kind = "application/json" if data else "application/x-www-form-urlencoded"
    with transaction.atomic():
        answer = caller.client.generic(method, address(route, known), data, kind)
        if method == "GET" and answer.status_code == 302 and got(answer) == IN:
            answer = caller.client.get(answer["Location"])
        transaction.set_rollback(True)
    if answer.streaming:
        answer.close()
    return answer


def told(answer: Any, known: Samples) -> list[str]:
    """The samples' ids that an answer gives away."""
    if answer.streaming or got(answer) != IN:
        return []
    text = answer.content.decode()
    return [name for name, id_ in known.items() if name not in NO_ROWS and id_ in text]


def refusals() -> int:
    """How many refusals wait for the audit log, each naming what was missing and where."""
    denied = [entry for entry in later.discard() if entry.outcome == Outcome.DENIED]
    assert all(entry.target.kind and entry.content for entry in denied)
    return len(denied)


def tried(route: DeclaredRoute, caller: Caller, known: Samples) -> Iterator[str]:
    """Every answer that is not the expected one, in words."""
    wanted = expected(route, caller)
    methods = ("GET", "POST") if route.methods == ("ANY",) else route.methods
    for method in methods:
        answer = ask(route, method, caller, known)
        if answer.status_code == 405:
            continue
        if not caller.is_near and (shown := told(answer, known)):
            yield f"{method} {route.path} [{route.name}] as {caller.name}: tells of {shown}"
        if (entries := refusals()) != (got(answer) in {DENIED, HIDDEN}):
            yield f"{method} {route.path} [{route.name}] as {caller.name}: {entries} audit entries"
        if got(answer) != wanted:
            found = f"{got(answer)} ({answer.status_code})"
            yield f"{method} {route.path} [{route.name}] as {caller.name}: {found}, not {wanted}"


@pytest.fixture
def known(talk: Talk) -> Samples:
    # The rows of agents that an earlier test made are gone with it.
    PROFILES.forget()
    return made_samples(talk, person("owner", "viewer", "*"))


def guarded() -> list[DeclaredRoute]:
    """Every route that asks for something, each once."""
    return list(dict.fromkeys(route for route in routes() if route.permission != PUBLIC))


def test_every_route_answers_every_caller_as_the_permission_table_says(known: Samples) -> None:
    unknown = {name for route in guarded() for name in lacking(route, known)}
    assert not unknown, f"give tests/matrix/samples.py an id for {sorted(unknown)}"
    everybody = list(callers())
    wrong = [
        line for route in guarded() for caller in everybody for line in tried(route, caller, known)
    ]
    later.discard()
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def test_no_route_and_no_socket_declares_nothing() -> None:
    assert undeclared_routes(sockets=websocket_urlpatterns) == []


def test_what_anybody_may_open_is_named() -> None:
    assert {route.name for route in routes() if route.permission == PUBLIC} == OPEN


def test_no_role_is_forgotten_and_each_may_something_that_the_one_before_may_not() -> None:
    assert permissions_of("admin") == frozenset(PERMISSIONS)
    assert all(permissions_of(role) < permissions_of("admin") for role in ROLES[:-1])


def test_every_exception_of_the_matrix_is_a_route_that_exists() -> None:
    names = {route.name for route in routes()}
    assert set(FURTHER) <= names
