"""Tables that are larger than memory, converted to a graph folder."""

from evergraph.data.convert.convert import convert_tables
from evergraph.data.convert.plan import Plan

__all__ = ["Plan", "convert_tables"]
