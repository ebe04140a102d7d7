"""The hash-chained record of who did or tried what."""
