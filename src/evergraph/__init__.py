"""Continual graph learning: node classification on a graph that keeps growing new classes."""

__version__ = "0.1.0"
