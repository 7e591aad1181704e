"""The .npz layout of Shchur et al.: CSR adjacency `adj_*`, CSR features `attr_*`, `labels`; ours: `time`."""

from pathlib import Path

from evergraph.data.datasets.arrays import Arrays, about, csr_from, read_arrays, require
from evergraph.data.datasets.entry import DatasetEntry, RemoteFile
from evergraph.data.graph import Graph, make_graph

UPSTREAM = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz/"
SHCHUR = (
    "Shchur, Mumme, Bojchevski and Günnemann, Pitfalls of Graph Neural Network Evaluation, "
    "Relational Representation Learning Workshop, NeurIPS 2018."
)
KEYS = tuple(f"{matrix}_{part}" for matrix in ("adj", "attr") for part in ("data", "indices", "indptr", "shape"))
KEYS += ("attr_matrix", "labels", "time")


def read_npz(path: Path, name: str, remarks: tuple[str, ...] = ()) -> Graph:
    """The graph in a file of this layout; text arrays in it (names) may be pickled upstream and are not read."""
    with about(path):
        return graph_from(read_arrays(path, KEYS), path, name, remarks)


def graph_from(arrays: Arrays, path: Path, name: str, remarks: tuple[str, ...] = ()) -> Graph:
    """The graph of the arrays; features stay sparse where they are stored so, and may be absent."""
    require(arrays, ("adj_data", "labels"))
    features = arrays.get("attr_matrix")
    if any(key.startswith("attr_") for key in arrays) and features is None:
        features = csr_from(arrays, "attr")
    if features is None:
        remarks = (*remarks, no_features(path.name))
    adjacency = csr_from(arrays, "adj")
    return make_graph(adjacency, features, arrays["labels"], name=name, remarks=remarks, times=arrays.get("time"))


def no_features(file: str) -> str:
    """The statement on a graph whose source has no features."""
    return f"{file} holds no node features"


def _entry(
    name: str,
    file: str,
    summary: str,
    *,
    citation: str = SHCHUR,
    counts: tuple[int, int] | None = None,
    stand_in: str | None = None,
) -> DatasetEntry:
    """An entry of this layout; a stand-in has no upstream address and says in every result what it is."""
    source = RemoteFile(file, None if stand_in else UPSTREAM + file)
    remarks = (f"{name} is a stand-in for {stand_in}, not {stand_in} itself",) if stand_in else ()
    return DatasetEntry(
        name=name,
        summary=summary,
        citation=citation,
        load=lambda _options, locate: read_npz(locate(source), name, remarks),
        files=(source,),
        stand_in=stand_in,
        counts=counts,
    )


ENTRIES = (
    _entry(
        "amazon-computers",
        "amazon_electronics_computers.npz",
        "products of the computer section, joined when bought together; words of the reviews; 10 categories",
        counts=(13381, 491556),
    ),
    _entry(
        "amazon-photo",
        "amazon_electronics_photo.npz",
        "products of the photo section, joined when bought together; words of the reviews; 8 categories",
    ),
    _entry(
        "coauthor-cs",
        "ms_academic_cs.npz",
        "authors in computer science, joined when they wrote a paper together; keywords; 15 fields",
    ),
    _entry(
        "coauthor-physics",
        "ms_academic_phy.npz",
        "authors in physics, joined when they wrote a paper together; keywords; 5 fields",
    ),
    _entry(
        "corafull",
        "cora_full.npz",
        "papers of the whole Cora corpus, joined by citations; words; 70 topics",
        citation=(
            "Bojchevski and Günnemann, Deep Gaussian Embedding of Graphs: Unsupervised Inductive Learning via "
            "Ranking, ICLR 2018; file as prepared by " + SHCHUR
        ),
        counts=(18800, 125370),
    ),
    _entry(
        "cora-papers70",
        "cora_papers70.npz",
        "a stand-in for CoraFull: papers of the Cora corpus with 70 leaf classes and TF-IDF of title words",
        citation=(
            "McCallum, Nigam, Rennie and Seymore, Automating the Construction of Internet Portals with Machine "
            "Learning, Information Retrieval 3, 2000 (the Cora corpus)."
        ),
        stand_in="CoraFull",
    ),
)
