"""Agents: building them, running turns, the loop, gates and interrupts."""
