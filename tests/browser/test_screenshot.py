"""The README's picture: made here, and committed when README_PICTURE says so."""

import os
from pathlib import Path

from django.conf import settings
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.services.folder import FOLDER

KEPT: Path = settings.BASE_DIR / "docs/session.png"


def test_the_picture_shows_a_session_that_waits_for_an_approval(admin: Person) -> None:
    admin.page.get_by_role("link", name="office-supplies").click()
    admin.send('/tool create_order {"sku": "green tea", "quantity": 3}')
    expect(admin.page.get_by_role("button", name="Allow once")).to_be_visible()
    picture = KEPT if os.environ.get("README_PICTURE") else FOLDER / "session.png"
    picture.parent.mkdir(exist_ok=True)
    admin.page.screenshot(path=picture, animations="disabled", caret="hide")
    assert picture.stat().st_size < 200_000
