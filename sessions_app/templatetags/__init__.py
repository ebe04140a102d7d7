"""Template tags and filters of the pages, one topic a module."""
