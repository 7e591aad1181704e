"""Experiments: a grid of runs from a TOML file, and the executors that do them."""
