"""What an agent is between calls: its state, how it is written and changed."""
