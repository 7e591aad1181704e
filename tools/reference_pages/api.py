"""docs/reference/api.md: the public Python interface as directives of mkdocstrings."""

from dataclasses import dataclass

HEAD = """\
# Python interface

What other code may use. Each name is imported from where its heading says, most of them from `evergraph` itself.
`import evergraph` is quick: torch is imported when a name that needs it is first used.
"""


@dataclass(frozen=True)
class Group:
    """Names that belong together; brief: those that are shown without their members."""

    title: str
    sentence: str
    module: str
    names: tuple[str, ...]
    brief: tuple[str, ...] = ()


GROUPS = (
    Group(
        "A growing graph",
        "A classifier in scikit-learn's manner that learns batch by batch, and what it takes as a batch.",
        "evergraph",
        ("ContinualClassifier", "Batch", "read_batch", "to_batch", "read_table", "FeatureSchema"),
    ),
    Group(
        "Graphs and data sets",
        "A graph in memory, data sets by name, and the way from and to PyTorch Geometric.",
        "evergraph",
        ("Graph", "make_graph", "load_dataset", "DATASETS", "DatasetEntry", "from_pyg", "to_pyg"),
        brief=("DATASETS",),
    ),
    Group(
        "Runs",
        "One run of a method on a stream of tasks, and what is known of it afterwards.",
        "evergraph",
        ("RunConfig", "run", "RunResult", "Record", "summarise", "Watch"),
    ),
    Group(
        "Summaries",
        "What `summarise` returns.",
        "evergraph.results.summary",
        ("Summary", "SoFar", "Averages"),
    ),
    Group(
        "Scores",
        "Numbers for nodes, by which replay methods choose and `evergraph score` ranks.",
        "evergraph",
        ("score_graph", "SCORES", "ScoreEntry", "hodge_potential"),
        brief=("SCORES",),
    ),
    Group(
        "What a score is made of",
        "The argument and the result of a score of your own.",
        "evergraph.scores",
        ("ScoreContext", "NodeScores", "Scope", "Space"),
    ),
    Group(
        "Methods and backbones",
        "What a method or a backbone of your own is made of.",
        "evergraph",
        (
            "METHODS",
            "MethodEntry",
            "Learner",
            "TaskView",
            "Net",
            "ReplayBuffer",
            "Settings",
            "BACKBONES",
            "BackboneEntry",
            "Backbone",
            "load_plugin",
        ),
        brief=("METHODS", "BACKBONES", "Settings"),
    ),
    Group(
        "Parts of methods",
        "Choosing nodes within a budget, and keeping them in any storage.",
        "evergraph.replay",
        (
            "selection.Selection",
            "selection.choose_per_class",
            "selection.mix",
            "storage.Storage",
            "storage.StorageConfig",
            "storage.empty_buffer",
            "storage.keep",
        ),
    ),
    Group(
        "Parts of backbones",
        "What a backbone is given, and the head that grows with the classes.",
        "evergraph.backbones",
        ("CustomBackbone", "layers.Head", "NodeFeatures", "MessageGraph", "ModelInput", "model_input", "Norm"),
    ),
    Group(
        "Hodge theory",
        "Operators, potentials and decompositions on any graph ([a guide](../hodge.md)).",
        "evergraph.hodge",
        (
            "hodge_decomposition",
            "Decomposition",
            "Solution",
            "solve_laplacian",
            "ranking_potential",
            "gradient",
            "divergence",
            "curl",
            "laplacian",
            "edge_list",
            "EdgeList",
            "flow_from_matrix",
            "flow_to_matrix",
            "signed_adjacency",
            "underlying_graph",
            "grown_start",
            "triangles",
            "mapped_components",
            "Orientation",
            "Method",
            "named_method",
            "Solving",
            "DEFAULT_MEMORY",
            "Preconditioner",
        ),
    ),
    Group(
        "Contract tests",
        "What every method, backbone, score and data set must pass; a test class of yours inherits one of them.",
        "evergraph.testing",
        ("MethodContract", "BackboneContract", "ScoreContract", "DatasetContract"),
        brief=("MethodContract", "BackboneContract", "ScoreContract", "DatasetContract"),
    ),
    Group(
        "Errors",
        "What a user can meet; each message is one sentence: what was wanted, what came instead, what to do.",
        "evergraph",
        ("ConfigError", "DataError", "StoreError", "ConvergenceError", "GraphWarning"),
        brief=("ConfigError", "DataError", "StoreError", "ConvergenceError", "GraphWarning"),
    ),
)
OPTIONS = {
    "heading_level": "3",
    "show_root_heading": "true",
    "show_root_full_path": "true",
    "show_source": "false",
    "show_bases": "false",
    "separate_signature": "true",
    "show_signature_annotations": "true",
    "members_order": "source",
    "filters": '["!^_", "!^model_config$"]',
}


def page() -> str:
    return "\n".join([HEAD, *map(_section, GROUPS)])


def _section(group: Group) -> str:
    parts = [f"## {group.title}", group.sentence]
    parts += [_directive(f"{group.module}.{name}", brief=name in group.brief) for name in group.names]
    return "\n\n".join(parts) + "\n"


def _directive(path: str, *, brief: bool) -> str:
    options = {**OPTIONS, **({"members": "false"} if brief else {})}
    lines = [f"::: {path}", "    options:", *(f"      {name}: {value}" for name, value in options.items())]
    return "\n".join(lines)
