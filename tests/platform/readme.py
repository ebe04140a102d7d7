"""Reads README.md as the tests need it: its code blocks, its tables, and the tree of its map."""

import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

ROOT: Path = settings.BASE_DIR
TEXT = (ROOT / "README.md").read_text()
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MAP_LINE = re.compile(r"^(?P<indent> *)(?P<names>\S+(?: \S+)*?)(?:  +(?P<says>\S.*))?$")
INDENT = 4


def section(title: str) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    level = next(line for line in TEXT.splitlines() if line.strip("# ") == title).count("#")
    _, _, rest = TEXT.partition(f"\n{'#' * level} {title}\n")
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(language: str, text: str = TEXT) -> list[str]:
    """The code blocks of a language, in order."""
    return [code for named, code in _FENCE.findall(text) if named == language]


def code_words(text: str) -> set[str]:
    """Everything between backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))


def first_cells(text: str) -> list[str]:
    """The first cell of every row of a section's table, but for its head."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [row.split("|")[1].strip() for row in rows[2:]]


@dataclass(frozen=True, slots=True)
class Map:
    """The tree that the README draws: every path in it, relative to the root."""

    paths: frozenset[str]

    def children(self, folder: str) -> set[str]:
        """The names that it draws right below a folder."""
        prefix = f"{folder}/" if folder else ""
        below = (p.removeprefix(prefix) for p in self.paths if p.startswith(prefix) and p != prefix)
        return {name for name in below if name and "/" not in name}


def the_map() -> Map:
    """The first block of its section."""
    paths: set[str] = set()
    above: list[str] = []
    for line in blocks("text", section("The map"))[0].splitlines():
        if line.startswith(" " * INDENT * 4):
            continue  # the words go on
        found = _MAP_LINE.match(line)
        assert found, line
        depth = len(found["indent"]) // INDENT
        for name in found["names"].split(" "):
            paths.add("/".join([*above[:depth], name.rstrip("/")]))
        above[depth:] = [found["names"].split(" ")[0].rstrip("/")]
    return Map(frozenset(paths))
