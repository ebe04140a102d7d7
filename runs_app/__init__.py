"""What happens during a call."""
