"""Committed rows of every kind for the tests of the API's contract."""

from collections.abc import Iterator

import pytest

from agentadmin.audit import later
from tests.contract.world import World


@pytest.fixture
def world() -> Iterator[World]:
    """Rows of every kind, committed."""
    world = World()
    world.grow()
    yield world
    later.discard()
