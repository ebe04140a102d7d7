"""Every pair of ink and surface in tokens.css keeps WCAG 2.2 AA in both themes."""

import math
import re
from collections.abc import Iterator

import pytest
from django.conf import settings

Rgb = tuple[float, float, float]
OKLCH = r"oklch\(([\d.]+) ([\d.]+) ([\d.]+)(?: / [\d.]+)?\)"
PAIR = r"--([\w-]+):\s*light-dark\((oklch[^)]*\)),\s+(oklch[^)]*\))\)"
SURFACES = ["canvas", "surface", "sunken", "raised", "hover", "selected"]
STATES = ["live", "wait", "good", "bad", "held", "idle"]
TEXT, EDGE = 4.5, 3.0


def linear(oklch: str) -> Rgb:
    """Convert to linear sRGB."""
    match = re.match(OKLCH, oklch)
    assert match
    light, chroma, hue = map(float, match.groups())
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    x, y, z = (
        v**3
        for v in (
            light + 0.3963377774 * a + 0.2158037573 * b,
            light - 0.1055613458 * a - 0.0638541728 * b,
            light - 0.0894841775 * a - 1.2914855480 * b,
        )
    )
    return (
        4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
        -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
        -0.0041960863 * x - 0.7034186147 * y + 1.7076147010 * z,
    )


def luminance(rgb: Rgb) -> float:
    red, green, blue = (min(1.0, max(0.0, v)) for v in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: Rgb, other: Rgb) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def tokens() -> dict[str, tuple[Rgb, Rgb]]:
    text = (settings.BASE_DIR / "static" / "css" / "tokens.css").read_text()
    found = {name: (linear(day), linear(night)) for name, day, night in re.findall(PAIR, text)}
    for name, other in re.findall(r"--([\w-]+):\s*var\(--([\w-]+)\);", text):
        if other in found:
            found.setdefault(name, found[other])
    return found


def pairs() -> Iterator[tuple[str, str, float]]:
    for ink in ("text", "text-2", "text-3", "accent"):
        yield from ((ink, surface, TEXT) for surface in SURFACES)
    for state in STATES:
        yield from ((f"{state}-fg", s, TEXT) for s in [*SURFACES, f"{state}-bg"])
        yield from ((ink, f"{state}-bg", TEXT) for ink in ("text", "text-2"))
        lines = ("surface", "sunken", "canvas", f"{state}-bg")
        yield from ((f"{state}-line", s, EDGE) for s in lines)
    for kind in ("add", "del", "move"):
        yield from ((f"{kind}-fg", s, TEXT) for s in (f"{kind}-bg", "surface"))
        yield from ((ink, f"{kind}-bg", TEXT) for ink in ("text", "text-2", "text-3"))
    for kind in ("add", "del"):
        yield from ((ink, f"{kind}-strong", TEXT) for ink in (f"{kind}-fg", "text"))
    yield from (("line-strong", s, EDGE) for s in ("surface", "raised", "canvas", "sunken"))
    yield from (("focus", s, EDGE) for s in SURFACES)
    yield from (("on-accent", s, TEXT) for s in ("accent-fill", "accent-press"))
    yield from (("on-bad", s, TEXT) for s in ("bad-fill", "bad-press"))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_pair_has_enough_contrast(theme: int) -> None:
    found = tokens()
    weak = [
        f"{ink} on {surface}: {ratio(found[ink][theme], found[surface][theme]):.2f} < {need}"
        for ink, surface, need in pairs()
        if ratio(found[ink][theme], found[surface][theme]) < need
    ]
    assert weak == []


def test_every_colour_exists_on_an_ordinary_screen() -> None:
    for name, both in tokens().items():
        for rgb in both:
            assert all(-0.002 <= value <= 1.002 for value in rgb), name


def test_no_other_stylesheet_has_a_raw_colour() -> None:
    raw = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(", re.IGNORECASE)
    folder = settings.BASE_DIR / "static" / "css"
    sheets = [path for path in folder.glob("*.css") if path.name != "tokens.css"]
    found = [f"{path.name}: {hit}" for path in sheets for hit in raw.findall(path.read_text())]
    assert found == []


def test_what_is_disabled_never_has_the_colours_of_what_is_not() -> None:
    """The rule for disabled buttons stands behind those for primary and danger, hover included."""
    text = (settings.BASE_DIR / "static" / "css" / "controls.css").read_text()
    disabled = '.btn:is(:disabled, [aria-disabled="true"])'
    assert text.index(f"{disabled},\n{disabled}:hover {{") > text.rindex(".btn.danger:hover")
