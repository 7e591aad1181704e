"""Experiments: a TOML file becomes a grid of runs, an executor does them, the results become small records."""
