"""Graph folders: CSR, features and labels in .npy files that are memory-mapped, with a checksummed manifest."""

from evergraph.data.graph_folder.batch import folder_batch
from evergraph.data.graph_folder.manifest import MANIFEST, ArrayFile, GraphManifest
from evergraph.data.graph_folder.npy import NpyWriter
from evergraph.data.graph_folder.reading import check_folder, is_graph_folder, read_folder, read_manifest

__all__ = [
    "MANIFEST",
    "ArrayFile",
    "GraphManifest",
    "NpyWriter",
    "check_folder",
    "folder_batch",
    "is_graph_folder",
    "read_folder",
    "read_manifest",
]
