"""Reads of sessions, threads, states, facts and controls; nothing here writes."""
