"""How often and how long the live side waits, in seconds; the tests shorten it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Timing:
    """The live side's periods."""

    coalesce: float = 0.04
    """Deltas of one block that come within this time leave together."""
    recheck: float = 4.0
    """A watcher's right to watch is asked for again this often: who lost it is out within five."""
    tick: float = 5.0
    """The heads of all watched threads are compared with what was sent this often."""
    grace: float = 0.3
    """A fact seen in the database may still be on its way through the stream this long."""
    ping: float = 15.0
    send: float = 10.0
    """A client that takes one frame no faster than this is gone."""
    retry: float = 0.5
    """After Redis failed, it is left alone this long."""
    batch: float = 0.01
    """The least time between two reads of the streams."""
    fleet: float = 0.1
    """Hints about one thread that come within this time are one hint."""


timing = Timing()
