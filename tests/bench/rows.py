"""A measured row, its verdict, and the table that shows it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside its target; `value` is what the target judges, None where nothing does."""

    row: str
    what: str
    figure: str
    value: float | None = None
    target: float | None = None
    unit: str = ""
    floor: float | None = None
    """The floor of the same run, in the unit of the value."""

    def to_dict(self) -> dict[str, Any]:
        """For the way from the measuring process to the one that prints."""
        return asdict(self)

    @property
    def ratio(self) -> str:
        """The value as a multiple of the floor."""
        return "" if not self.floor or self.value is None else f"{self.value / self.floor:.1f} x"

    @property
    def verdict(self) -> str:
        """Plain words; rows without a target are only told."""
        if self.value is None or self.target is None:
            return ""
        return "ok" if self.value <= self.target else "OVER TARGET"

    def cells(self) -> tuple[str, ...]:
        """The columns of the table."""
        target = "" if self.target is None else f"<= {self.target:g} {self.unit}".rstrip()
        floor = "" if self.floor is None else f"{self.floor:.2f} {self.unit}".rstrip()
        return self.row, self.what, self.figure, target, floor, self.ratio, self.verdict


HEADINGS = ("row", "what", "measured", "target", "floor", "ratio", "")


def table(rows: Sequence[Row]) -> str:
    """The rows under each other."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([shown[0], "-" * max(map(len, shown)), *shown[1:]])
