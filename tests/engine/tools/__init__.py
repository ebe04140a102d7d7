"""Tests of the engine's tools."""
