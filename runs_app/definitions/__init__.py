"""Agents that are data: what a definition says, what is wrong with it, how it is built."""
