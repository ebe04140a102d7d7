"""The thread journal: append-only facts, fenced writers, and the fold that turns facts into state."""
