"""What both directions of a conversion do with the parts of a block or a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection
    from enum import StrEnum

    from agentadmin.engine.state.interop.losses import Losses

Raw = dict[str, Any]


def kept(raw: Raw, names: Collection[str]) -> Raw:
    """The fields of other names."""
    return {name: value for name, value in raw.items() if name not in names}


def without(raw: Raw, names: Collection[str], path: str, losses: Losses, why: str) -> Raw:
    """The object without these fields, itself where it has none; a value is told as lost."""
    if not any(name in raw for name in names):
        return raw
    for name in names:
        if raw.get(name) not in (None, "", [], {}):
            losses.dropped(f"{path}.{name}", why)
    return kept(raw, names)


def known_word(
    raw: Raw, words: type[StrEnum], instead: StrEnum, path: str, losses: Losses
) -> str | None:
    """The state of a block where it is known or missing; else a cautious one in its place."""
    state: str | None = raw.get("state")
    if state is None or state in words:
        return state
    losses.changed(f"{path}.state", f"the state {state[:40]!r} is unknown there")
    return instead.value
