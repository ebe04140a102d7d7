"""Tags by which the pages of sessions show what runs_app knows."""
