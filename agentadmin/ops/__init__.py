"""What the people who run the product need: commands that look after it, and its own document."""
