"""The key table in words: the sheet that `?` opens, the help page and the profile show it.

What a key acts on is marked in the pages (`data-key`, `data-go`, `data-query`, `data-rows`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """One line of the sheet: the keys, in order, and what they do."""

    keys: tuple[str, ...]
    does: str
    is_range: bool = False


EVERYWHERE = (
    Key(("/",), "search"),
    Key(("?",), "this sheet"),
    Key(("y",), "copy a link to this page"),
    Key(("t",), "time zone"),
    Key(("esc",), "close what is open; the focus goes back"),
)
LISTS = (
    Key(("j", "k"), "next, previous row"),
    Key(("enter",), "open the row"),
)
SESSION = (
    Key(("1", "7"), "tabs", is_range=True),
    Key(("n", "N"), "next, previous change of a comparison"),
    Key(("m",), "write a message"),
    Key(("f",), "follow the newest"),
    Key(("p",), "pause the tail"),
    Key(("i",), "interrupt, asks first"),
    Key(("c",), "cancel, asks first"),
    Key(("a", "d"), "approve, deny"),
)
