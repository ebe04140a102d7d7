"""Every page, in both themes, at the width of a desk and of a telephone."""

from collections.abc import Callable

import pytest
from django.urls import resolve
from playwright.sync_api import Page

import runs_app.urls
import sessions_app.urls
from agentadmin.access import urls as access_urls
from tests.browser.axe import COLOURS, doubled_ids, violations, wider
from tests.browser.person import Person
from tests.browser.scene import Scene, scene
from tests.services.product import Product

THEMES: dict[str, tuple[str, ...]] = {"light": (), "dark": COLOURS}
WIDTHS = (1280, 320)
PAGES = (
    "sessions",
    "no session fits",
    "new session",
    "import",
    "export",
    "export for Python",
    "conversation",
    "a long conversation",
    "a waiting approval",
    "an interrupted turn",
    "a failed turn",
    "a question in Chinese",
    "an approval in Arabic",
    "a conversation from Java",
    "hostile text",
    "state",
    "raw state",
    "permissions",
    "plan",
    "set to-dos",
    "begin task",
    "redact",
    "patch",
    "history",
    "a comparison",
    "hostile versions",
    "a past state",
    "restore",
    "fork",
    "runs",
    "a session's audit",
    "run",
    "a failed run",
    "audit",
    "audit entry",
    "clear context",
    "add rule",
    "set summary",
    "widen",
    "approvals",
    "approval",
    "decided approvals",
    "allow once",
    "turns",
    "every turn",
    "pause",
    "resume",
    "steer",
    "allow and add rule",
    "edit call",
    "interrupt",
    "cancel",
    "erase session",
    "jobs",
    "job",
    "stop job",
    "agents",
    "agent",
    "two versions of an agent",
    "new agent",
    "change agent",
    "retire agent",
    "an audit list with filters",
    "a wrong audit filter",
    "profile",
    "tokens",
    "new token",
    "revoke token",
    "users",
    "new user",
    "user",
    "deactivate user",
    "renew password",
    "withdraw role",
    "confirm it is you",
    "help",
    "API",
    "nothing",
)

# They answer with another page, with plain text, only to a form, or are looked at below.
NO_PAGES = {
    "home",
    "thread",
    "control",
    "thread_state_raw",
    "thread_export_file",
    "fact_raw",
    "thread_compare_pick",
    "thread_message",
    "thread_reconcile",
    "respond",
    "inbox_count",
    "audit_verify",
    "sign_in",
    "sign_out",
    "password",
    "sign_in_end",
}


@pytest.fixture
def places(product: Product) -> Scene:
    return scene(product)


def look(page: Page) -> None:
    """Fail with every fault of the page as it stands, and the themes and widths that have it."""
    found: dict[str, list[str]] = {f"doubled id {name}": [] for name in doubled_ids(page)}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for fault in wider(page):
            found.setdefault(fault, []).append(str(width))
        for theme, rules in THEMES.items():
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            for fault in violations(page, *rules):
                found.setdefault(fault, []).append(f"{theme} {width}")
    if found:
        pytest.fail("\n".join(f"{fault} [{', '.join(on)}]" for fault, on in found.items()), False)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound_in_both_themes_and_at_320_pixels(
    places: Scene, visitor: Person, name: str
) -> None:
    visitor.open(places[name])
    look(visitor.page)


def test_no_page_is_left_out(places: Scene) -> None:
    assert set(PAGES) == places.pages.keys()
    apps = (access_urls, sessions_app.urls, runs_app.urls)
    patterns = [pattern for urls in apps for pattern in urls.urlpatterns]
    looked_at = {resolve(address.partition("?")[0]).url_name for address in places.pages.values()}
    assert {pattern.name for pattern in patterns} - looked_at == NO_PAGES


def test_the_pages_before_a_sign_in_are_sound(product: Product, page: Page) -> None:
    page.goto(f"{product.url}/sign-in")
    look(page)
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    look(page)


def menu(person: Person, name: str) -> None:
    person.page.locator("summary").filter(has_text=name).click()


@pytest.mark.parametrize(
    ("name", "open_it"),
    [
        ("keys", lambda person: person.page.keyboard.press("?")),
        ("menu", lambda person: menu(person, "your menu")),
        ("zone", lambda person: menu(person, "Times in")),
    ],
)
def test_what_opens_on_a_page_is_sound_too(
    places: Scene, admin: Person, name: str, open_it: Callable[[Person], None]
) -> None:
    admin.open(places["conversation"])
    open_it(admin)
    look(admin.page)
