"""Holding a turn from its page, and an inbox that stays true while others decide."""

import re

from playwright.sync_api import expect

from tests.browser.person import REASON, Person


def test_a_turn_is_paused_told_something_and_resumed(admin: Person) -> None:
    admin.new_session()
    admin.send('/tool sleep {"seconds": 3}')
    admin.status("Running")
    admin.page.get_by_role("link", name="Pause").click()
    admin.confirm(admin.dialog(re.compile("Pause a turn")), "Pause the turn")
    admin.status("Paused")
    admin.sees(re.compile("Paused by admin"))
    admin.sees("Pause took effect, requested by")
    admin.page.get_by_role("link", name="Steer").click()
    dialog = admin.dialog(re.compile("Steer a turn"))
    dialog.get_by_label("What the agent is told").fill("/echo steered")
    admin.press(dialog, "Tell the turn")
    admin.sees(re.compile("Told by admin, not read yet"))
    thread = admin.thread_id()
    admin.page.get_by_role("link", name="Turns").click()
    row = admin.page.locator(f'[data-threads="{thread}"]')
    row.get_by_role("link", name="Resume…").click()
    dialog = admin.dialog(re.compile("Resume a turn"))
    dialog.get_by_label("Reason").fill(REASON)
    admin.press(dialog, "Resume the turn")
    admin.sees("Resumed.")
    expect(row).to_have_count(0)
    admin.open(f"/threads/{thread}/conversation")
    admin.sees(re.compile("^steered$"))
    admin.sees(re.compile("Told by admin while the turn was under way"))


def test_an_open_inbox_says_who_was_faster(admin: Person, approver: Person) -> None:
    admin.new_session()
    admin.send('/tool create_order {"sku": "faster"}')
    admin.status("Waiting")
    asked = admin.api(f"/interactions?status=pending&thread_id={admin.thread_id()}")["items"][0]
    admin.open(f"/approvals/{asked['id']}")
    badge = admin.page.get_by_role("navigation", name="Main").locator("[data-count-approvals]")
    before = int(badge.inner_text())
    approver.open(f"/approvals/{asked['id']}")
    approver.page.get_by_role("button", name="Deny").click()
    admin.sees("grace denied this")
    expect(admin.page.locator("#card").get_by_text("by grace")).to_be_visible()
    expect(admin.page.locator("#card").get_by_role("button", name="Deny")).to_be_hidden()
    if before > 1:
        expect(badge).to_have_text(str(before - 1))
    else:
        expect(badge).to_be_hidden()
