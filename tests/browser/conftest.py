"""One running product for all browser tests; each test uses sessions of its own."""

import time
from collections.abc import Iterator
from threading import Thread

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from playwright.sync_api import Browser, Page

from tests.browser.axe import doubled_ids
from tests.browser.person import Person
from tests.services.folder import FOLDER
from tests.services.product import Product

HASHER = PBKDF2PasswordHasher()


@pytest.fixture(scope="session")
def product_database(product_database: str) -> str:
    """A database that holds the demo and nothing else."""
    if connection.vendor == "sqlite":
        return f"sqlite:///{FOLDER / 'browser.sqlite3'}"
    return product_database


@pytest.fixture(scope="package")
def product_processes(product_database: str) -> Iterator[Product]:
    """As in other live tests, but started once; `product` mends what a test has killed."""
    product = Product(FOLDER / f"p{time.monotonic_ns()}", product_database)
    product.manage("migrate", "--verbosity", "0")
    yield product
    product.stop()


@pytest.fixture(scope="package")
def seeding(product_processes: Product) -> Thread:
    """The demo is made while the processes start."""
    thread = Thread(target=product_processes.manage, args=("seed_demo",))
    thread.start()
    return thread


@pytest.fixture(autouse=True)
def _furnished(seeding: Thread, product: Product) -> None:
    """No test makes a session before the demo's are there."""
    seeding.join()
    enrol(product, "admin", "admin")
    enrol(product, "grace", "operator")
    enrol(product, "violet", "viewer")


def enrol(product: Product, name: str, role: str) -> None:
    """Somebody who can sign in: the product's processes do not know the tests' quick hashes."""
    users = get_user_model().objects.filter(username=name)
    if not users.exists():
        product.create_operator(name, role)
    if not users.filter(password__startswith=HASHER.algorithm).exists():
        users.update(password=HASHER.encode(product.password, "salt-of-the-tests", 1_000))


@pytest.fixture
def visitor(product: Product, page: Page) -> Person:
    """The administrator, signed in, in front of an empty page."""
    person = Person(page, product)
    person.arrive()
    return person


@pytest.fixture
def admin(visitor: Person, page: Page) -> Iterator[Person]:
    """The administrator, looking at the list of sessions."""
    visitor.open("/sessions")
    yield visitor
    page.wait_for_load_state()
    assert doubled_ids(page) == []


@pytest.fixture
def elsewhere(chromium_browser: Browser) -> Iterator[Page]:
    """A page in a browser of its own, which hears nothing of what happens."""
    context = chromium_browser.new_context(viewport={"width": 1280, "height": 800}, locale="en")
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.route_web_socket("**", lambda _: None)
    yield page
    context.close()


@pytest.fixture
def approver(product: Product, elsewhere: Page) -> Person:
    """An operator somewhere else."""
    person = Person(elsewhere, product)
    person.arrive("grace")
    return person


@pytest.fixture
def viewer(product: Product, elsewhere: Page) -> Person:
    """Somebody who may only look."""
    person = Person(elsewhere, product)
    person.arrive("violet")
    return person
