"""What a person does in the browser, in the words of the pages: everything by role and name."""

import re
import uuid
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.services.product import Product, until

WORD = re.compile(r"\bword-(\d+)")
_COOKIES: dict[tuple[str, str], Any] = {}
REASON = "Shown to a visitor in the five-minute tour."


class Person:
    """Somebody in front of one page."""

    def __init__(self, page: Page, product: Product) -> None:
        self.page = page
        self.product = product

    # --- Getting around ---------------------------------------------------------------------------

    def open(self, path: str) -> None:
        """Type an address."""
        self.page.goto(f"{self.product.url}{path}")

    def arrive(self, name: str = "admin") -> None:
        """Signed in: by the form the first time, then by the cookie that it gave."""
        key = (self.product.url, name)
        if key in _COOKIES:
            self.page.context.add_cookies(_COOKIES[key])
            return
        self.sign_in(name)
        _COOKIES[key] = self.page.context.cookies()

    def sign_in(self, name: str = "admin") -> None:
        """By the form, from whatever page asks for it."""
        self.open("/sessions")
        self.page.get_by_label("User name").fill(name)
        self.page.get_by_label("Password").fill(self.product.password)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()

    def new_session(self, name: str = "", user: str = "") -> str:
        """By the form; the id that was chosen."""
        name = name or f"tour-{uuid.uuid4().hex[:8]}"
        self.page.get_by_role("link", name="New session").first.click()
        self.page.get_by_label("Session id").fill(name)
        self.page.get_by_label("User", exact=True).fill(user)
        self.page.get_by_role("button", name="Create session").click()
        expect(self.page.get_by_role("heading", name=name)).to_be_visible()
        return name

    def tab(self, name: str) -> None:
        """One of the session's tabs."""
        self.page.get_by_role("navigation", name="Session").get_by_role(
            "link", name=re.compile(rf"^{name}\b")
        ).click()

    # --- Conversation -----------------------------------------------------------------------------

    @property
    def main(self) -> Locator:
        return self.page.get_by_role("main")

    def send(self, text: str) -> None:
        """Write into the message box and send."""
        box = self.page.get_by_label("Message to the agent")
        box.fill(text)
        self.page.get_by_role("button", name="Send").click()
        expect(box).to_have_value("")

    def sees(self, text: str | re.Pattern[str]) -> None:
        """The page says it, within a while."""
        expect(self.main.get_by_text(text).filter(visible=True).last).to_be_visible()

    def words(self) -> list[int]:
        """The numbers of the streamed words on the page, in order."""
        return [int(n) for n in WORD.findall(self.main.inner_text())]

    def watches(self, least: int) -> list[int]:
        """Wait until so many words are there: each once, from the first, none left out."""
        words = until(lambda: len(found := self.words()) >= least and found, f"{least} words")
        assert words == list(range(1, len(words) + 1))
        return words

    def status(self, word: str) -> None:
        """What the session's head says of the thread."""
        head = self.page.locator("#sess-head")
        expect(head.get_by_text(word, exact=True).first).to_be_visible()

    # --- Acts -------------------------------------------------------------------------------------

    def dialog(self, title: str | re.Pattern[str]) -> Locator:
        """The one dialog, open."""
        found = self.page.get_by_role("dialog", name=title)
        expect(found).to_be_visible()
        return found

    def confirm(self, dialog: Locator, button: str | re.Pattern[str]) -> None:
        """Give a reason and press the button that names the act."""
        dialog.get_by_label("Reason").fill(REASON)
        self.press(dialog, button)

    def press(self, dialog: Locator, button: str | re.Pattern[str]) -> None:
        """The act happens and the dialog goes."""
        dialog.get_by_role("button", name=button).click()
        expect(dialog).to_be_hidden()

    # --- What the API says of it ------------------------------------------------------------------

    def api(self, path: str) -> Any:
        """What a program would read."""
        with self.product.client() as client:
            answer = client.get(path)
        assert answer.is_success, answer.text
        return answer.json()

    def thread_id(self) -> str:
        """The thread that the page shows."""
        found = self.page.locator("[data-thread]").first.get_attribute("data-thread")
        assert found
        return found

    def orders(self) -> list[Any]:
        """What the pretended external system has recorded for this thread."""
        items: list[Any] = self.api(f"/demo/orders?thread_id={self.thread_id()}")["items"]
        return items
