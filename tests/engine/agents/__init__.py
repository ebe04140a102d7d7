"""Tests of the engine's agents."""
