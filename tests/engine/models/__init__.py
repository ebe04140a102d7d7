"""Tests of the engine's models."""
