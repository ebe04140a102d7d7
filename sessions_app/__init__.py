"""What an agent is between calls."""
