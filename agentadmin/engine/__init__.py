"""The engine: agents with durable state, usable without Django."""
