"""Redacted words leave every page that shows them, without a reload."""

import re

from playwright.sync_api import expect

from tests.browser.person import Person

CARD = re.compile("4111")


def redact(person: Person, message: int) -> None:
    """Take back what one message of the conversation said."""
    redacting = person.page.get_by_role("link", name="Redact this message")
    redacting.nth(message).click()
    person.confirm(person.dialog(re.compile("Redact a message")), "Erase what it said")


def test_redacted_words_leave_every_open_page(admin: Person) -> None:
    admin.new_session()
    admin.send("my card is 4111")
    admin.sees("You said: my card is 4111")
    admin.status("Idle")
    expect(admin.page.get_by_text("Accepted; the agent begins.")).to_be_hidden()
    viewer = Person(admin.page.context.new_page(), admin.product)
    viewer.open(f"/threads/{admin.thread_id()}/conversation")
    expect(viewer.page.get_by_text("Live", exact=True)).to_be_visible()
    expect(viewer.main.get_by_text(CARD)).to_have_count(2)

    redact(admin, 0)
    for person in (admin, viewer):
        expect(person.main.get_by_text(CARD)).to_have_count(1)
        expect(person.main.get_by_text("[redacted]")).to_have_count(1)

    admin.page.get_by_role("link", name="Clear context…").click()
    admin.confirm(admin.dialog(re.compile("Clear")), re.compile("Clear"))
    viewer.sees(re.compile("Working context cleared"))
    admin.page.locator("#message-text").fill("a draft")
    redact(admin, 0)
    for person in (admin, viewer):
        expect(person.main.get_by_text(CARD)).to_have_count(0)
        expect(person.main.get_by_text("[redacted]")).to_have_count(2)
        expect(person.main.locator("article.msg")).to_have_count(2)
    expect(admin.page.locator("#message-text")).to_have_value("a draft")
