"""Two people on one session: one wins, the other is told who and what."""

import re

from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.person import REASON, Person

ORDER = '/tool create_order {"sku": "coffee"}'


def test_of_two_approvals_one_wins_and_the_other_sees_who(admin: Person, approver: Person) -> None:
    admin.new_session()
    admin.send(ORDER)
    admin.status("Waiting")
    approver.open(f"/threads/{admin.thread_id()}/conversation")
    late = approver.page.get_by_role("button", name="Allow once")
    expect(late).to_be_visible()

    admin.page.get_by_role("button", name="Allow once").click()
    admin.sees(re.compile("create_order returned: order"))
    late.click()
    approver.sees("Not decided by you.")
    approver.sees(re.compile("admin decided this"))
    assert len(admin.orders()) == 1


def test_a_dialog_whose_state_has_moved_keeps_the_reason_and_asks_again(
    admin: Person, approver: Person
) -> None:
    admin.new_session()
    admin.send("/echo one")
    admin.sees(re.compile("^one$"))
    admin.status("Idle")
    approver.open(f"/threads/{admin.thread_id()}/conversation")
    approver.page.get_by_role("link", name="Clear context").click()
    dialog = approver.dialog(re.compile("Clear"))

    admin.send("/echo two")
    admin.sees(re.compile("^two$"))
    admin.status("Idle")
    dialog.get_by_label("Reason").fill(REASON)
    dialog.get_by_role("button", name=re.compile("Clear")).click()
    expect(dialog.get_by_text(re.compile(r"Version \d+ has moved to \d+"))).to_be_visible()
    expect(dialog.get_by_label("Reason")).to_have_value(REASON)
    dialog.get_by_role("button", name=re.compile("Clear")).click()
    expect(dialog).to_be_hidden()
    admin.send("/count")
    admin.sees("1 messages")


def test_a_viewer_sees_every_control_and_which_permission_it_needs(
    admin: Person, viewer: Person
) -> None:
    admin.new_session()
    admin.send(ORDER)
    admin.status("Waiting")
    viewer.open(f"/threads/{admin.thread_id()}/conversation")
    for name in ("Interrupt", "Cancel turn", "Clear context…", "Send", "Deny"):
        expect(viewer.page.get_by_role("button", name=name)).to_be_disabled()
    for permission in ("runs:interrupt", "runs:cancel", "sessions:clear", "runs:submit"):
        expect(viewer.page.get_by_text(re.compile(permission)).first).to_be_visible()
    expect(viewer.main.get_by_text("needs the permission interactions:respond")).to_be_visible()
    assert violations(viewer.page) == []
    viewer.open("/audit")
    expect(viewer.page.get_by_role("heading", name="You may not do this")).to_be_visible()
