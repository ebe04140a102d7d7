"""The parts of a benchmark run, each a process of its own: `measure(place) -> list[Row]`."""
