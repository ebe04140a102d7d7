"""On a telephone every page is reached, and the tab that one is on can be seen."""

from playwright.sync_api import expect

from tests.browser.person import Person


def test_a_phone_reaches_the_other_pages_and_sees_the_current_tab(admin: Person) -> None:
    admin.page.set_viewport_size({"width": 320, "height": 700})
    admin.new_session()
    for name in ("Audit", "Conversation"):
        admin.tab(name)
        tabs = admin.page.get_by_role("navigation", name="Session")
        current = tabs.locator("[aria-current]")
        expect(current).to_contain_text(name)
        expect(current).to_be_in_viewport(ratio=1)

    main = admin.page.get_by_role("navigation", name="Main")
    main.get_by_text("More").click()
    main.get_by_role("link", name="Turns").click()
    expect(admin.page.get_by_role("heading", name="Turns")).to_be_visible()
