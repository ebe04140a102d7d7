"""What stays right while it happens: a lost server, a run's tail, a session that others change."""

import re

from playwright.sync_api import expect

from tests.browser.axe import doubled_ids, violations, wider
from tests.browser.person import REASON, Person
from tests.services.product import until


def test_a_page_outlives_its_web_server_without_losing_or_doubling_a_word(admin: Person) -> None:
    admin.new_session()
    admin.send("/slow 100 40")
    seen = admin.watches(10)
    assert admin.product.web is not None
    admin.product.web.kill()
    expect(
        admin.page.get_by_text(re.compile("Reconnecting|Live updates lost")).first
    ).to_be_visible()
    admin.product.start_web()
    admin.product.wait_until_ready()
    admin.watches(len(seen) + 5)
    admin.watches(100)
    admin.status("Idle")
    assert len(admin.watches(100)) == 100
    assert doubled_ids(admin.page) == []


def test_a_runs_page_follows_its_events_and_can_be_held(admin: Person) -> None:
    admin.new_session()
    admin.send("/slow 50 40")
    admin.watches(3)
    admin.page.locator("#sess-head").get_by_role("link", name=re.compile("^01")).click()
    tail = admin.page.get_by_role("log", name="Events")
    expect(tail.get_by_text("request/prepared")).to_be_visible()
    expect(tail.get_by_text("run/end")).to_have_count(0)
    admin.page.keyboard.press("p")
    expect(admin.main.get_by_text(re.compile("Paused|held", re.IGNORECASE)).first).to_be_visible()
    admin.page.keyboard.press("f")
    expect(tail.get_by_text("run/end")).to_be_visible()
    expect(admin.page.locator("#run-head").get_by_text("Completed").first).to_be_visible()


def test_whoever_sends_sees_what_comes_of_it_below_a_long_conversation(admin: Person) -> None:
    admin.new_session()
    for _ in range(3):
        admin.send("/big 3000")
        admin.status("Idle")
    admin.page.reload()
    expect(admin.page.get_by_text("Live", exact=True)).to_be_visible()
    admin.send("/slow 60 30")
    admin.watches(60)
    admin.status("Idle")
    expect(admin.page.get_by_text("word-60")).to_be_in_viewport()
    expect(admin.page.locator("[data-follow-word]")).to_have_text("Following")


def test_the_list_offers_what_has_changed_elsewhere(admin: Person) -> None:
    with admin.product.client() as client:
        made = client.post("/sessions", json={"agent_id": "demo", "session_id": "fleet"}).json()
        admin.page.reload()
        row = admin.main.get_by_role("row", name=re.compile("fleet"))
        expect(row.get_by_text("Idle")).to_be_visible()
        expect(admin.page.get_by_text("Live", exact=True)).to_be_visible()
        thread = made["threads"][0]["id"]
        client.post(f"/threads/{thread}/turns", json={"input": '/tool create_order {"sku": "x"}'})
    expect(row.get_by_text("Waiting")).to_be_visible()


def test_a_call_of_a_lost_worker_waits_for_a_person_and_is_not_run_again(admin: Person) -> None:
    admin.new_session()
    admin.send('/tool create_order {"sku": "lost", "delay_after": 60}')
    admin.page.get_by_role("button", name="Allow once").click()
    until(admin.orders, "the order is recorded")
    admin.product.workers["worker"].kill()
    admin.product.start_worker(wait=False)

    admin.sees("1 call with unknown outcome.")
    assert violations(admin.page) == []
    admin.page.set_viewport_size({"width": 320, "height": 800})
    assert wider(admin.page) == []
    form = admin.page.locator("#reconcile")
    form.get_by_label("It happened").check()
    form.get_by_label("What the agent is told").fill("order found in the books")
    form.get_by_label("Reason").fill(REASON)
    form.get_by_role("button", name="Record and go on").click()
    admin.sees("create_order returned: order found in the books")
    assert len(admin.orders()) == 1
