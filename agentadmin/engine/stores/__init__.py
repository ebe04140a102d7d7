"""Stores of AgentState by session slot (snapshot mode)."""
