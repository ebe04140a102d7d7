"""What the pages show, computed without HTML: the frame of a thread, dialogs, rules, slices."""
