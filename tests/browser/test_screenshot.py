"""The README's picture: made here, and committed when README_PICTURE says so."""

import os
import re
from pathlib import Path

from django.conf import settings
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.services.folder import FOLDER

KEPT: Path = settings.BASE_DIR / "static/img/session.png"
SAID = (
    "/echo Good morning, Ada. The stock is counted; green tea runs out on Thursday.",
    '/tool calculator {"expression": "4 * 12"}',
)


def test_the_picture_shows_a_session_that_waits_for_an_approval(admin: Person) -> None:
    admin.new_session(name="tea-order", user="ada")
    for text in SAID:
        admin.send(text)
        admin.status("Idle")
    admin.sees(re.compile("calculator returned: 48"))
    admin.send('/tool create_order {"sku": "green tea", "quantity": 48}')
    expect(admin.page.get_by_role("button", name="Allow once")).to_be_visible()
    picture = KEPT if os.environ.get("README_PICTURE") else FOLDER / "session.png"
    picture.parent.mkdir(exist_ok=True)
    admin.page.set_viewport_size({"width": 1280, "height": 900})
    admin.page.reload()
    expect(admin.page.get_by_text("Live", exact=True)).to_be_visible()
    admin.page.get_by_role("button", name="Send").scroll_into_view_if_needed()
    admin.page.screenshot(path=picture, animations="disabled", caret="hide")
    assert picture.stat().st_size < 200_000
