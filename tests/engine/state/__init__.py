"""Tests of what an agent is between calls."""
