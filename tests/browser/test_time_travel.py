"""Somebody else's parked session: imported, answered, gone on with, compared, restored, forked."""

import json
import re
import uuid
from pathlib import Path

from django.conf import settings
from playwright.sync_api import Page, expect

from tests.browser.person import REASON, Person
from tests.browser.test_keyboard import tab_to
from tests.services.product import Product

PARKED: Path = settings.BASE_DIR / "tests/data/agentscope-python/s03_parked_asking.json"
CALLS = ("write_note", "delete_record", "delete_record", "get_weather")


def imported(person: Person, name: str) -> None:
    """By the import page, under another session id."""
    page = person.page
    page.get_by_role("link", name="Import").first.click()
    expect(page.get_by_role("heading", name="Import", exact=True)).to_be_visible()
    page.get_by_label("Session id").fill(name)
    page.get_by_label("Files").set_input_files(PARKED)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def answered(person: Person) -> None:
    """Every call that asks is allowed, one after the other, until the turn has ended."""
    allow = person.page.get_by_role("button", name="Allow once")
    for _ in CALLS:
        expect(
            allow.or_(person.page.locator("#sess-head").get_by_text("Idle")).first
        ).to_be_visible()
        if not allow.first.is_visible():
            break
        before = allow.count()
        allow.first.click()
        expect(allow).to_have_count(before - 1)
    person.status("Idle")


def versions(person: Person) -> int:
    found: int = person.api(f"/threads/{person.thread_id()}")["version"]
    return found


def test_a_parked_file_is_answered_gone_on_with_compared_restored_forked_and_exported(
    admin: Person, tmp_path: Path
) -> None:
    page, name = admin.page, f"lab-{uuid.uuid4().hex[:8]}"
    imported(admin, name)
    admin.sees("Note the drift, then delete records 77 and 78.")
    answered(admin)
    admin.send("/count")
    admin.sees(re.compile(r"^\d+ messages$"))
    newest = versions(admin)
    held = admin.api(f"/threads/{admin.thread_id()}/state?version=1")["state"]["context"]

    admin.tab("History")
    expect(page.get_by_role("link", name=f"Version {newest}", exact=True)).to_be_visible()
    page.get_by_role("radio", name="A is version 1", exact=True).check()
    page.get_by_role("radio", name=f"B is version {newest}", exact=True).check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name=f"Version 1 compared with {newest}")).to_be_visible()

    page.get_by_role("link", name="Restore 1…").click()
    dialog = admin.dialog(re.compile("1"))
    admin.confirm(dialog, re.compile("Restore"))
    expect(page.locator("#sess-head").get_by_text(f"v{newest + 1}")).to_be_visible()
    state = admin.api(f"/threads/{admin.thread_id()}/state")
    assert [m["id"] for m in state["state"]["context"]] == [m["id"] for m in held]

    admin.tab("History")
    page.get_by_role("link", name=f"Fork… version {newest}", exact=True).click()
    dialog = admin.dialog(re.compile("Fork"))
    dialog.get_by_label("Id of the new session").fill(f"{name}-fork")
    admin.confirm(dialog, re.compile("Fork"))
    expect(page.get_by_role("heading", name=f"{name}-fork")).to_be_visible()
    admin.send("/echo from the fork")
    admin.sees("from the fork")

    page.locator("#thread-menu summary").click()
    page.get_by_role("link", name="Export…").click()
    dialog = admin.dialog(re.compile("Export"))
    dialog.get_by_role("link", name=re.compile("Python")).click()
    with page.expect_download() as download:
        dialog.get_by_role("link", name="Download").click()
    document = json.loads(Path(download.value.path()).read_text())
    assert document["context"][0]["content"][0]["text"].startswith("Note the drift")
    assert "from the fork" in json.dumps(document)


def test_versions_are_compared_and_restored_without_a_mouse(product: Product, page: Page) -> None:
    keys, person = page.keyboard, Person(page, product)
    person.arrive()
    person.open("/sessions")
    person.new_session()
    person.send("/echo one")
    person.send("/echo two")
    person.sees("two")
    person.status("Idle")
    newest = versions(person)

    tab_to(page, "History")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Versions")).to_be_visible()
    page.get_by_role("radio", name="A is version 1", exact=True).focus()
    keys.press("Space")
    tab_to(page, "Compare", 200)
    keys.press("Enter")
    expect(page.get_by_role("heading", name=f"Version 1 compared with {newest}")).to_be_visible()
    keys.press("n")
    assert page.evaluate("document.activeElement.hasAttribute('data-change-at')")

    tab_to(page, "Restore 1…", 60)
    keys.press("Enter")
    dialog = person.dialog(re.compile("1"))
    dialog.get_by_label("Reason").focus()
    keys.type(REASON)
    tab_to(page, "Restore", 8)
    keys.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#sess-head").get_by_text(f"v{newest + 1}")).to_be_visible()
