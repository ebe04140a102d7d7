"""The README's five minutes, as a person takes them."""

import re
from pathlib import Path

from django.conf import settings
from playwright.sync_api import expect

from tests.browser.person import REASON, Person

ORDER = '/tool create_order {"sku": "tea", "quantity": 2}'
JAVA: Path = settings.BASE_DIR / "tests/data/agentscope-java/agent_state_full.json"
RECOVERY = "I noticed that you have interrupted me."


def test_a_stream_survives_a_reload_and_an_interrupt_keeps_what_was_said(admin: Person) -> None:
    admin.new_session()
    admin.send("/slow 200 50")
    admin.watches(10)
    admin.page.reload()
    seen = admin.watches(25)

    admin.page.get_by_role("link", name="Interrupt").click()
    admin.confirm(admin.dialog(re.compile("Interrupt")), re.compile("Interrupt"))
    admin.sees("Effective")
    admin.sees(RECOVERY)
    kept = admin.words()
    assert len(seen) <= len(kept) < 200
    admin.watches(len(seen))

    admin.page.reload()
    admin.sees(RECOVERY)
    assert admin.words() == kept


def test_what_is_typed_while_a_message_is_sent_is_kept(admin: Person) -> None:
    admin.new_session()
    box = admin.page.get_by_label("Message to the agent")
    box.fill("/echo first")
    with admin.page.expect_response("**/messages"):
        admin.page.get_by_role("button", name="Send").click()
        box.fill("/echo second")
    admin.sees(re.compile("^first$"))
    expect(box).to_have_value("/echo second")
    expect(box).to_be_focused()


def test_an_order_waits_for_its_approval_and_is_made_once(admin: Person) -> None:
    admin.new_session()
    admin.send(ORDER)
    admin.status("Waiting")
    assert admin.orders() == []

    admin.page.get_by_role("button", name="Allow once").click()
    admin.sees(re.compile(r"create_order returned: order A-\d+: 2 x tea"))
    admin.status("Idle")
    (order,) = admin.orders()
    assert (order["sku"], order["quantity"], order["times_asked"]) == ("tea", 2, 1)


def test_a_deny_rule_denies_the_next_call_and_is_named(admin: Person) -> None:
    admin.new_session()
    admin.tab("Permissions")
    admin.page.get_by_role("link", name="Add rule").click()
    dialog = admin.dialog(re.compile("rule", re.IGNORECASE))
    dialog.get_by_label("Answer").select_option("deny")
    dialog.get_by_label("Tool", exact=True).fill("create_order")
    dialog.get_by_label("Reason").fill(REASON)
    dialog.get_by_role("button", name="Show what it would do").click()
    expect(dialog.get_by_text("Exact patch")).to_be_visible()
    admin.press(dialog, "Add the rule")
    expect(admin.main.get_by_role("row", name=re.compile("create_order"))).to_be_visible()

    admin.tab("Conversation")
    admin.send(ORDER)
    call = admin.main.get_by_role("article").filter(has_text="create_order")
    expect(call.get_by_text("DENY").first).to_be_visible()
    expect(call.locator("code.rule").first).to_have_text("create_order")
    assert admin.orders() == []


def test_clearing_shows_what_it_does_first_and_the_history_stays(admin: Person) -> None:
    admin.new_session()
    admin.send("/echo remember me")
    admin.sees(re.compile("^remember me$"))
    admin.send("/count")
    admin.sees("3 messages")

    admin.page.get_by_role("link", name="Clear context").click()
    dialog = admin.dialog(re.compile("Clear"))
    expect(dialog.get_by_text(re.compile("4 messages leave the working context"))).to_be_visible()
    admin.confirm(dialog, re.compile("Clear"))

    admin.send("/count")
    admin.sees("1 message")
    admin.page.reload()
    for text in ("/echo remember me", "3 messages", "1 messages"):
        admin.sees(text)


def test_the_audit_log_tells_what_was_done_and_verifies(admin: Person) -> None:
    name = admin.new_session()
    admin.tab("Audit")
    expect(admin.main.get_by_role("row", name=re.compile("sessions.create"))).to_be_visible()
    admin.page.get_by_role("navigation", name="Main").get_by_role("link", name="Audit").click()
    expect(admin.main.get_by_role("row", name=re.compile(name)).first).to_be_visible()
    admin.page.get_by_role("button", name="Verify now").click()
    expect(admin.main.get_by_text(re.compile(r"Chain verified, [\d,]+ entries"))).to_be_visible()


def test_an_imported_java_state_is_read_and_goes_on(admin: Person) -> None:
    session = admin.product.manage("import_state", str(JAVA), "--session", "tour-java")
    admin.open(f"/sessions/{re.search(r'session ([0-9a-f-]{36})', session)[1]}")
    expect(admin.page.get_by_role("heading", name="tour-java")).to_be_visible()
    for text in ("Read the README, then delete /tmp/x.", "Reading it.", "# Title", "rm /tmp/x"):
        admin.sees(text)

    admin.page.get_by_role("button", name="Deny").click()
    admin.status("Idle")
    messages = admin.api(f"/threads/{admin.thread_id()}")["context"]["messages"]
    assert messages > 4
    admin.send("/count")
    admin.sees(f"{messages + 1} messages")
