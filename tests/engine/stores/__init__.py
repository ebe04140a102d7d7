"""Tests of the engine's stores."""
