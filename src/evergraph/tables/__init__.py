"""A person's files and frames: tables, batches of nodes and edges, and the schema that makes numbers of columns."""

from evergraph.tables.adapters import to_batch
from evergraph.tables.arrays import batch_from_arrays
from evergraph.tables.batch import Batch, batch_from_tables, read_batch
from evergraph.tables.edges import Duplicates
from evergraph.tables.frames import batch_from_frames
from evergraph.tables.networkx_graphs import batch_from_networkx
from evergraph.tables.pyg_data import batch_from_pyg
from evergraph.tables.reading import read_table, table_from_text
from evergraph.tables.schema import ColumnKind, FeatureSchema
from evergraph.tables.table import Table

__all__ = [
    "Batch",
    "ColumnKind",
    "Duplicates",
    "FeatureSchema",
    "Table",
    "batch_from_arrays",
    "batch_from_frames",
    "batch_from_networkx",
    "batch_from_pyg",
    "batch_from_tables",
    "read_batch",
    "read_table",
    "table_from_text",
    "to_batch",
]
