"""The core flow without a mouse, and the same without scripts."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.person import REASON, Person
from tests.services.product import Product


def focused(page: Page) -> str:
    """The accessible name of what has the focus, as near as the DOM tells."""
    return str(
        page.evaluate(
            """() => {
              const e = document.activeElement;
              if (e === document.body) return "";
              const label = e.labels?.[0] ?? e;
              return (e.getAttribute("aria-label") || label.textContent || "").trim();
            }"""
        )
    )


def tab_to(page: Page, name: str, most: int = 40) -> None:
    """Press Tab until something of that name has the focus."""
    passed = []
    for _ in range(most):
        page.keyboard.press("Tab")
        passed.append(focused(page))
        if name in passed[-1]:
            return
    raise AssertionError(f"Tab never came to {name!r}: {passed}")


def test_the_core_flow_needs_no_mouse(product: Product, page: Page) -> None:
    keys = page.keyboard
    person = Person(page, product)
    person.open("/sessions")
    expect(page.get_by_label("User name")).to_be_focused()
    keys.type("admin")
    tab_to(page, "Password")
    keys.type(product.password)
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()

    tab_to(page, "New session")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="New session")).to_be_visible()
    tab_to(page, "Create session")
    keys.press("Enter")
    expect(page.get_by_label("Message to the agent")).to_be_visible()

    keys.press("m")
    keys.type('/tool create_order {"sku": "keys"}')
    tab_to(page, "Send", 3)
    keys.press("Enter")
    person.status("Waiting")
    here = page.url
    name = page.get_by_role("heading", level=1).inner_text()
    keys.press("g")
    keys.press("a")
    expect(page.get_by_role("heading", name="Approvals")).to_be_visible()
    tab_to(page, name)
    keys.press("Enter")
    expect(person.main.get_by_role("heading", name="create_order wants to run")).to_be_visible()
    keys.press("a")
    expect(person.main.get_by_text("Approved", exact=True)).to_be_visible()
    person.page.goto(here)
    person.sees(re.compile("create_order returned: order"))

    keys.press("m")
    keys.type("/slow 400 30")
    tab_to(page, "Send", 3)
    keys.press("Enter")
    person.watches(5)
    keys.press("i")
    dialog = person.dialog(re.compile("Interrupt"))
    keys.press("Escape")
    expect(dialog).to_be_hidden()
    keys.press("i")
    dialog = person.dialog(re.compile("Interrupt"))
    tab_to(page, "Reason", 8)
    keys.type(REASON)
    tab_to(page, "Interrupt", 12)
    keys.press("Enter")
    expect(dialog).to_be_hidden()
    person.sees("I noticed that you have interrupted me.")


def test_keys_move_through_the_list_and_between_pages(admin: Person) -> None:
    keys = admin.page.keyboard
    keys.press("j")
    keys.press("j")
    second = admin.main.get_by_role("row").nth(2)
    expect(second).to_have_attribute("aria-selected", "true")
    name = second.get_by_role("link").inner_text()
    keys.press("Enter")
    expect(admin.page.get_by_role("heading", name=name)).to_be_visible()
    keys.press("2")
    expect(admin.page).to_have_url(re.compile("/state$"))
    keys.press("g")
    keys.press("u")
    expect(admin.page.get_by_role("heading", name="Audit", exact=True)).to_be_visible()
    keys.press("?")
    expect(admin.page.get_by_role("dialog", name="Keys")).to_be_visible()
    keys.press("Escape")
    keys.press("/")
    expect(admin.page.get_by_label("Search sessions")).to_be_focused()


def test_everything_but_the_stream_works_without_scripts(
    product: Product, chromium_browser: Browser
) -> None:
    context = chromium_browser.new_context(java_script_enabled=False, locale="en")
    context.set_default_timeout(10_000)
    person = Person(context.new_page(), product)
    person.sign_in()
    person.new_session()
    person.send("/echo without scripts")
    person.page.wait_for_timeout(300)
    person.page.reload()
    person.sees(re.compile("^without scripts$"))
    person.page.get_by_role("link", name="Clear context").click()
    expect(person.page.get_by_role("heading", name=re.compile("Clear"))).to_be_visible()
    person.page.get_by_label("Reason").fill(REASON)
    person.page.get_by_role("button", name=re.compile("Clear")).click()
    expect(person.page.get_by_text(re.compile("Applied as version"))).to_be_visible()
    context.close()


def test_a_chosen_theme_outlasts_the_page(admin: Person) -> None:
    root = admin.page.locator("html")
    admin.page.locator("summary").filter(has_text="your menu").click()
    admin.page.get_by_role("button", name="Dark").click()
    expect(root).to_have_attribute("data-theme", "dark")
    admin.page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    admin.page.locator("summary").filter(has_text="your menu").click()
    admin.page.get_by_role("button", name="System").click()
    expect(root).not_to_have_attribute("data-theme", "dark")
