"""A real Chromium for browser tests, and a page that fails its test on any policy violation."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.services import chromium


@pytest.fixture(scope="session")
def chromium_browser() -> Iterator[Browser]:
    """One browser for the run; each test gets a context of its own."""
    # Playwright's loop runs in this thread, which Django would take for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.executable(), args=chromium.FLAGS
        )
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def browser_context(chromium_browser: Browser) -> Iterator[BrowserContext]:
    """A clean profile; give it a size with `context.new_page()` and `set_viewport_size`."""
    context = chromium_browser.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="reduce", locale="en"
    )
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def page(browser_context: BrowserContext) -> Iterator[Page]:
    """A page; its test fails if a script failed or the content security policy was violated."""
    page = browser_context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.on("console", lambda message: _note(message.type, message.text, faults))
    yield page
    assert faults == []


def _note(kind: str, text: str, faults: list[str]) -> None:
    if kind == "error" and "Content Security Policy" in text:
        faults.append(text)
