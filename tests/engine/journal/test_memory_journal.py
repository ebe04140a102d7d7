"""The in-memory journal keeps the port's promises, and the fold holds under random changes."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentadmin.engine.journal.memory import InMemoryThreadJournal
from tests.conformance.journal_suite import JournalConformance
from tests.conformance.journal_walk import walk


class TestInMemoryThreadJournal(JournalConformance):
    """The shared suite, in memory."""

    @pytest.fixture
    def journal(self) -> InMemoryThreadJournal:
        return InMemoryThreadJournal()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_folding_the_facts_gives_every_version(seed: int) -> None:
    asyncio.run(walk(InMemoryThreadJournal(), seed, steps=15))
