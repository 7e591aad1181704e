"""Graphs, data sets and streams of tasks."""
