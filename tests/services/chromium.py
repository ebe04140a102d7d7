"""A Chromium for the browser tests: Debian's, or one that Playwright installed."""

import os
import shutil
from pathlib import Path

MISSING = "No Chromium found: install Debian's chromium, or run `playwright install chromium`."
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str:
    """The program's path; CHROMIUM names one outright."""
    for name in (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"):
        if name and (found := shutil.which(name)):
            return found
    browsers = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache/ms-playwright"
    installed = sorted(Path(browsers).glob("chromium-*/chrome-*/chrome"))
    if not installed:
        raise RuntimeError(MISSING)
    return str(installed[-1])
