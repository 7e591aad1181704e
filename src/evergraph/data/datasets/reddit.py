"""Reddit: posts of September 2014, joined when one user commented on both; two .npz files."""

from scipy import sparse

from evergraph.data.datasets.arrays import about, read_arrays, readable, require
from evergraph.data.datasets.entry import DatasetEntry, Locate, NoOptions, RemoteFile
from evergraph.data.graph import Graph, make_graph

ADDRESS = "https://data.dgl.ai/dataset/reddit.zip"
NODES = RemoteFile("reddit/reddit_data.npz", ADDRESS, inside="reddit_data.npz")
EDGES = RemoteFile("reddit/reddit_graph.npz", ADDRESS, inside="reddit_graph.npz")


def load(_options: NoOptions, locate: Locate) -> Graph:
    """Features and labels from one file, the adjacency (a matrix saved by scipy) from the other."""
    nodes, edges = locate(NODES), locate(EDGES)
    with about(nodes):
        arrays = read_arrays(nodes, ("feature", "label"))
        require(arrays, ("feature", "label"))
    with readable(edges):
        adjacency = sparse.load_npz(edges)
    with about(edges.parent):
        return make_graph(adjacency, arrays["feature"], arrays["label"], name="reddit")


ENTRY = DatasetEntry(
    name="reddit",
    summary="Reddit posts, joined when one user commented on both; word vectors; 41 communities",
    citation=("Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, NeurIPS 2017."),
    load=load,
    files=(NODES, EDGES),
    counts=(232965, 114615892),
    budget=100,
)
