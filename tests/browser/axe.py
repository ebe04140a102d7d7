"""What a machine can say of a page: axe-core, doubled ids, and anything wider than the window."""

from functools import cache

from django.conf import settings
from playwright.sync_api import Page

# Every rule of axe, or those about colour: nothing else depends on the theme.
COLOURS = ("color-contrast", "link-in-text-block")
_RUN = """async (rules) => {
  const only = rules.length ? {runOnly: {type: "rule", values: rules}} : {};
  const found = await axe.run(document, {resultTypes: ["violations"], selectors: false, ...only});
  return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)}`));
}"""

_DOUBLED = """() => {
  const seen = new Map();
  for (const {id} of document.querySelectorAll("[id]")) seen.set(id, (seen.get(id) ?? 0) + 1);
  return [...seen].filter(([, n]) => n > 1).map(([id]) => id);
}"""

_WIDER = """() => {
  const page = document.scrollingElement;
  if (page.scrollWidth <= page.clientWidth) return [];
  const wide = [...document.body.querySelectorAll("*")]
    .filter((e) => e.getBoundingClientRect().right > page.clientWidth + 1);
  return [`scrolls to ${page.scrollWidth} px`,
          ...wide.slice(0, 3).map((e) => `reaches out: ${e.outerHTML.slice(0, 160)}`)];
}"""


@cache
def _source() -> str:
    return (settings.BASE_DIR / "node_modules/axe-core/axe.min.js").read_text()


def violations(page: Page, *rules: str) -> list[str]:
    """What axe finds on the page as it stands, by all its rules or by these."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(_source())
    found: list[str] = page.evaluate(_RUN, list(rules))
    return found


def doubled_ids(page: Page) -> list[str]:
    """Ids that stand on more than one element."""
    found: list[str] = page.evaluate(_DOUBLED)
    return found


def wider(page: Page) -> list[str]:
    """By how much the page scrolls sideways, and what makes it; nothing where it does not."""
    found: list[str] = page.evaluate(_WIDER)
    return found
