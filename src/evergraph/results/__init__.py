"""Finished runs: load, group, summarise; nothing here trains."""
