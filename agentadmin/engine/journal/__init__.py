"""The thread journal: append-only facts, fenced writers, and the fold from facts to state."""
