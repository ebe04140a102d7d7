"""T6: what a thousand turns leave behind, and that it grows with what was said."""

from tests.bench import floor
from tests.bench.rows import Row
from tests.bench.threads import Conversation, journal_with_rows

TURNS = 1_000
SIZE = """
SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'floor_%'
"""


async def measure() -> list[Row]:
    """Compaction is off: the working context grows to all that was said."""
    base = floor.postgres()
    conversation = Conversation(journal_with_rows(), "storage", 0)
    empty = base.number(SIZE)
    sizes = []
    for _ in range(2):
        for _ in range(TURNS // 2):
            await conversation.turn()
        sizes.append((base.number(SIZE) - empty) / 1e6)
    half, whole = sizes
    return [
        Row("T6", f"tables after {TURNS} turns", f"{whole:.2f} MB", whole, 8, "MB"),
        Row("T6", f"{TURNS} turns over {TURNS // 2}", f"{whole / half:.2f}", whole / half, 2.1),
    ]
