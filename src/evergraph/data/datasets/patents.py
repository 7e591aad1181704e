"""Patents and dated citations between them: two gzipped tables, times, no features."""

from evergraph.data.datasets.entry import DatasetEntry, Locate, NoOptions, RemoteFile
from evergraph.data.datasets.files import FileOptions, graph_from_tables
from evergraph.data.graph import Graph

EDGES = RemoteFile("patent_citations/edges.csv.gz", None)
NODES = RemoteFile("patent_citations/nodes.csv.gz", None)


def load(_options: NoOptions, locate: Locate) -> Graph:
    """A patent's time is that of the first citation in which it takes part."""
    edges, nodes = locate(EDGES), locate(NODES)
    return graph_from_tables(edges, FileOptions(nodes=nodes))


ENTRY = DatasetEntry(
    name="patents",
    summary="patents, joined by dated citations; a time for each; features derived from the graph; 6 categories",
    citation=(
        "Hall, Jaffe and Trajtenberg, The NBER Patent Citations Data File: Lessons, Insights and Methodological "
        "Tools, NBER Working Paper 8498, 2001."
    ),
    load=load,
    files=(EDGES, NODES),
    derived="spectral:64",
    local=True,
)
