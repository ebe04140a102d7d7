"""The people: an admin, an operator, a viewer, and a stranger who works elsewhere."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry

PASSWORD = "correct horse battery staple"
SYSTEM = Actor.system("tests")
People = dict[str, User]
Bearer = Callable[..., Client]


@pytest.fixture
def people(db: None) -> People:
    places = {
        "admin": ("admin", "*", "*"),
        "operator": ("operator", "team-*", "*"),
        "viewer": ("viewer", "team-b", "*"),
        "stranger": ("operator", "elsewhere", "*"),
    }
    return {
        name: create_user(
            actor=SYSTEM, name=name, password=PASSWORD, role=role, namespace=space, agent=agent
        )
        for name, (role, space, agent) in places.items()
    }


@pytest.fixture
def site(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.access.urls"


@pytest.fixture
def bearer(people: People, site: None) -> Bearer:
    """A client that sends a new token of the user."""

    def _client(name: str, **given: object) -> Client:
        made = create_token(actor=SYSTEM, user=people[name], **given)  # type: ignore[arg-type]
        return Client(headers={"Authorization": f"Bearer {made.secret}"})

    return _client


@pytest.fixture
def signed_in(people: People, site: None) -> Callable[[str], Client]:
    """A browser with a session of the user that enforces CSRF as the product does."""

    def _client(name: str) -> Client:
        client = Client(enforce_csrf_checks=True)
        client.force_login(people[name])
        return client

    return _client


@pytest.fixture(autouse=True)
def nothing_left_over() -> Iterator[None]:
    later.discard()
    cache.clear()
    yield
    later.discard()


def last_entry() -> AuditEntry:
    later.flush()
    entry = AuditEntry.objects.order_by("-id").first()
    assert entry is not None
    return entry
