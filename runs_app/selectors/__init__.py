"""Reads of turns, runs, questions and demo orders; they never write."""
