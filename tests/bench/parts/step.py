"""T7: the commit of a step, three facts and a snapshot, beside one statement."""

from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import assistant_message
from tests.bench import floor
from tests.bench.rows import Row
from tests.bench.texts import text
from tests.bench.threads import CONTEXT, Conversation, journal_alone, journal_with_rows
from tests.bench.timing import interleaved

ROUNDS, EACH = 25, 10


class Steps:
    """A run that commits step after step under its lease."""

    def __init__(self, writer: JournalWriter) -> None:
        self.writer = writer
        self.number = 0

    async def commit(self) -> None:
        """A message and what was decided about it."""
        self.number += 1
        writer = self.writer
        writer.state.context_mutable().append(assistant_message(text(self.number), name="bench"))
        call = {"call_id": f"c{self.number}", "tool": "sleep", "behavior": "allow"}
        prepared = {"model_call": f"m{self.number}", "model": "offline:demo", "items": CONTEXT}
        facts = [
            writer.fact(FactType.REQUEST_PREPARED, prepared),
            writer.fact(FactType.TOOL_DECISION, call),
        ]
        await writer.flush(facts, reason="step")

    async def trim(self) -> None:
        """Keep the working context at its size."""
        self.writer.state.set_context(self.writer.state.context[-CONTEXT:])
        await self.writer.flush(reason="trim")


async def steps(kind: str) -> Steps:
    """A claimed thread with a history."""
    journal = journal_alone() if kind == "journal" else journal_with_rows()
    thread = await Conversation(journal, f"steps {kind}", 1_000).seed()
    ref = await thread.ref()
    lease = await journal.claim(ref, "bench", 600)
    return Steps(await JournalWriter.open(journal, ref, lease=lease))


async def measure() -> list[Row]:
    """With the product's rows, and the journal alone."""
    base = floor.postgres()
    runs = {kind: await steps(kind) for kind in ("journal", "journal and rows")}
    base.run("ANALYZE")

    async def small_again(name: str) -> None:
        if name in runs:
            await runs[name].trim()

    samples = await interleaved(
        {"floor": floor.case(base.append), **{kind: run.commit for kind, run in runs.items()}},
        rounds=ROUNDS,
        each=EACH,
        before_round=small_again,
    )
    least = samples["floor"].median
    return [
        Row(
            "T7",
            f"commit of a step, {kind}",
            samples[kind].figure(),
            samples[kind].median,
            round(3 * least, 2),
            "ms",
            least,
        )
        for kind in runs
    ]
