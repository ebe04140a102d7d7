"""The relational journal keeps the port's promises, on the database under test."""

import pytest

from sessions_app.journal import DjangoThreadJournal
from tests.conformance.journal_suite import JournalConformance
from tests.conformance.journal_walk import walk


@pytest.mark.django_db(transaction=True)
class TestDjangoThreadJournal(JournalConformance):
    """The shared suite, over the database."""

    @pytest.fixture
    def journal(self) -> DjangoThreadJournal:
        return DjangoThreadJournal()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(8))
async def test_folding_the_facts_gives_every_version(seed: int) -> None:
    await walk(DjangoThreadJournal(), seed, steps=12)
