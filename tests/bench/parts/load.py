"""T9: what a process that has never seen a thread pays before its first step."""

from agentadmin.engine.journal.base import ThreadRef
from agentadmin.engine.journal.loading import load
from tests.bench import floor
from tests.bench.rows import Row
from tests.bench.threads import CONTEXT, Conversation, journal_with_rows
from tests.bench.timing import Case, interleaved

HISTORIES = (50, 1_000, 5_000)
ROUNDS, EACH = 12, 5
TARGET = 8


async def measure() -> list[Row]:
    """The newest state of long histories, of which the working context holds the last 50."""
    base = floor.floor()
    journal = journal_with_rows()
    cases = {"floor": floor.case(base.turn)}
    for history in HISTORIES:
        thread = await Conversation(journal, f"load-{history}", history).seed()
        cases[str(history)] = _cold(await thread.ref())
    if isinstance(base, floor.PostgresFloor):
        base.run("ANALYZE")
    samples = await interleaved(cases, rounds=ROUNDS, each=EACH)
    least = samples.pop("floor").median
    longest = str(HISTORIES[-1])
    return [
        Row(
            "T9",
            f"cold load, {history} messages of history, context {CONTEXT}",
            found.figure(),
            found.median,
            TARGET if history == longest else None,
            "ms",
            least,
        )
        for history, found in samples.items()
    ]


def _cold(ref: ThreadRef) -> Case:
    journal = journal_with_rows()

    async def case() -> None:
        state = (await load(journal, ref)).state()
        assert len(state.context) == CONTEXT

    return case
