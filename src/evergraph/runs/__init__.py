"""One run: its settings, the loop over tasks, its record and its folder."""
