"""Building what a model is asked: selection, sizes, compaction."""
