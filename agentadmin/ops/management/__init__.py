"""Management commands of operation."""
