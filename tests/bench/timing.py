"""Timing on a noisy machine: interleaved, many short rounds, medians; processor time beside."""

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

type Case = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Samples:
    """What one case took, in milliseconds."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The wall clock's."""
        return statistics.median(self.wall)

    @property
    def processor_mean(self) -> float:
        """This process alone: what the database takes is not in it."""
        return statistics.fmean(self.processor)

    def figure(self) -> str:
        """Median, the best tenth, and the processor's part."""
        low = percentile(self.wall, 10)
        return f"{self.median:.2f} ms (p10 {low:.2f}, cpu {self.processor_mean:.2f})"


def percentile(values: list[float], percent: float) -> float:
    """The smallest value that this many percent do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, round(percent / 100 * len(ordered)) - 1))]


async def interleaved(
    cases: Mapping[str, Case],
    *,
    rounds: int,
    each: int,
    before_round: Callable[[str], Awaitable[None]] | None = None,
) -> dict[str, Samples]:
    """Run the cases in turn, `each` times a round, after one unmeasured time."""
    samples = {name: Samples() for name in cases}
    gc.collect()
    for _ in range(rounds):
        for name, case in cases.items():
            if before_round is not None:
                await before_round(name)
            await case()
            for _ in range(each):
                await _timed(case, samples[name])
    return samples


async def _timed(case: Case, into: Samples) -> None:
    processor, wall = time.process_time(), time.perf_counter()
    await case()
    into.wall.append((time.perf_counter() - wall) * 1000)
    into.processor.append((time.process_time() - processor) * 1000)
