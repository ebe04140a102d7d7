"""What a request holds, and how the past is condensed."""
