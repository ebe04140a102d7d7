"""What the pages about runs show, computed without HTML: conversation, approvals, timelines."""
