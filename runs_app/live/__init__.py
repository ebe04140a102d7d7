"""Live events: from the commit to the browser (design §7)."""
