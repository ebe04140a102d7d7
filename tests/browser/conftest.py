"""One running product for all browser tests; each test uses sessions of its own."""

import time
from collections.abc import Iterator

import pytest
from django.db import connection
from playwright.sync_api import Browser, Page

from tests.browser.axe import doubled_ids
from tests.browser.person import Person
from tests.services.folder import FOLDER
from tests.services.product import Product


@pytest.fixture(scope="session")
def product_database(product_database: str) -> str:
    """A database that holds the demo and nothing else."""
    if connection.vendor == "sqlite":
        return f"sqlite:///{FOLDER / 'browser.sqlite3'}"
    return product_database


@pytest.fixture(scope="package")
def product_processes(product_database: str) -> Iterator[Product]:
    """As in other live tests, but started once: a browser test kills nothing."""
    product = Product(FOLDER / f"p{time.monotonic_ns()}", product_database)
    product.manage("migrate", "--verbosity", "0")
    product.manage("seed_demo")
    enrol(product, "admin", "admin")
    enrol(product, "grace", "operator")
    yield product
    product.stop()


def enrol(product: Product, name: str, role: str) -> None:
    """By the product's own process: it does not read the tests' quick password hashes."""
    password = f"{product.password}\n"
    product.manage("create_operator", name, "--role", role, "--password-stdin", given=password)


@pytest.fixture
def admin(product: Product, page: Page) -> Iterator[Person]:
    """The administrator, signed in, looking at the list of sessions."""
    person = Person(page, product)
    person.arrive()
    yield person
    page.wait_for_load_state()
    assert doubled_ids(page) == []


@pytest.fixture
def approver(product: Product, chromium_browser: Browser) -> Iterator[Person]:
    """Somebody else, in a browser of their own, whose pages hear nothing of what happens."""
    context = chromium_browser.new_context(viewport={"width": 1280, "height": 800}, locale="en")
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.route_web_socket("**", lambda _: None)
    person = Person(page, product)
    person.arrive("grace")
    yield person
    context.close()
