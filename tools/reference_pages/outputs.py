"""What each command prints with --json: a line for each key. A test compares them with what is printed."""

from dataclasses import dataclass

from evergraph.estimator.history import ClassAccuracy, Rejection, Step
from evergraph.experiments.recommend import Candidate
from evergraph.results.groups import Stat
from evergraph.results.seeds import Means
from evergraph.results.summary import Summary
from reference_pages.fields import Row, rows, type_text


@dataclass(frozen=True)
class Key:
    """A key of a JSON object: its type and its meaning."""

    name: str
    type: str
    meaning: str


def of(model: type) -> list[Key]:
    """The fields of a model as keys."""
    return [_key(row) for row in rows(model)]


def _key(row: Row) -> Key:
    return Key(row.name, type_text(row.kind), row.meaning)


def keys(text: str) -> list[Key]:
    """Lines `name: type: meaning`."""
    return [Key(*(part.strip() for part in line.split(":", 2))) for line in text.strip().splitlines()]


RUN = [
    *of(Summary),
    *keys("""
classes: list of text: Names of the classes in order of arrival.
run_dir: path: The folder of the run.
config: object of (object of any): All settings, by section.
"""),
]
MODEL = keys("""
known_classes: list of (integer or text): Classes so far, in order of arrival.
memory: object of integer: Bytes kept of the past: by the learner, of learned nodes, of held-out nodes.
columns: list of text: A line for each column that is used, and one for those that are left out.
choices: object of any: What the method has chosen from the data learned, such as hops; most choose nothing.
""")
GRAPH = keys("""
name: text: Name of the data set, or path.
nodes: integer: Nodes.
edges: integer: Adjacency entries: an undirected edge counts twice.
features: integer: Features of a node.
classes: integer: Classes that occur.
tasks: integer: Tasks of a stream with default settings.
smallest_class: integer: Nodes of the smallest class.
largest_class: integer: Nodes of the largest class.
directed: true or false: Whether edges have a direction.
times: true or false: Whether nodes have times.
remarks: list of text: What a reader of results should know.
""")
FOLDER = keys("model: path: The model folder.")

OUTPUTS: dict[str, tuple[str, list[Key]]] = {
    "run": (
        "One method. Several methods or seeds give `runs`, a list of these objects, and `failed`, reasons by "
        "method or run; several seeds also `means`, a list of Means, below.",
        RUN,
    ),
    "show": ("What `run` prints, and the figures.", keys("figures: list of path: Pictures that were written.")),
    "recommend": (
        "An object of `methods` has the fields of a candidate, below.",
        keys("""
recommended: text or null: The method that keeps least within half a point of the best; null where none is left.
judged_by: text: What `judged` is: AA, or where classes come back the area of accuracy on all nodes so far.
methods: list of Candidate: The methods that were measured.
left_out: object of text: Why others were not, by method.
picture: path: Accuracy over bytes kept.
"""),
    ),
    "bench": (
        "With `--dry-run`: `experiment` and `runs`, a list of `{run, done}`.",
        keys("""
experiment: text: Name of the experiment.
done: list of path: Folders of the finished runs.
exported: integer: Runs that the file of --export had already.
failed: object of text: Reasons, by run.
"""),
    ),
    "report": (
        "",
        keys("""
page: path: The page that was written.
bytes: integer: Its size.
runs: integer: Runs on it.
notes: list of text: What could not be read, and other remarks.
results: list: The rows of its tables: data, method, backbone, settings, seeds, chosen, aa, af, paper, remarks.
"""),
    ),
    "reproduce": (
        "",
        keys("""
target: text: Name of the table or figure.
title: text: Its title.
dataset: text: The data set.
features: text or null: How features were derived.
backbones: list of text: The backbones.
seeds: list of integer: The seeds.
fast: true or false: Whether --fast was given.
numbers: list: Each number, beside the paper's.
notes: list of text: Remarks below the table.
files: list of path: Files that were written.
failed: object of text: Reasons, by run.
"""),
    ),
    "score": (
        "The last three are the certificate of `hps`; other scores have none.",
        keys("""
score: text: Name of the score.
dataset: text: The data set.
nodes: integer: Nodes that were scored.
out: path: The file that was written.
remarks: list of text: What a reader of results should know.
residual: number: The true relative residual of the solve.
iterations: integer: Its iterations.
converged: true or false: Whether the accuracy asked for was met.
"""),
    ),
    "list": (
        "The first key is what was asked for: methods, backbones, datasets or scores.",
        keys("""
methods: list: name, summary, paper, plugin (null for evergraph's own) and settings with their defaults of each.
broken: object of text: Entries of other packages that cannot be loaded, and why.
"""),
    ),
    "data list": (
        "",
        keys("datasets: list: name, summary, here (whether its files are on this disk) and licence."),
    ),
    "data info": (
        "The first three are left out for files.",
        [
            *keys("""
summary: text: What it is.
citation: text: Where it comes from.
licence: text: The licence of the data.
"""),
            *GRAPH,
        ],
    ),
    "data fetch": ("", keys("name: text: The data set.\nfiles: list of path: Its files on this disk.")),
    "data cache": (
        "",
        keys("""
cache: path: The folder of the cache.
cleared: true or false: Whether what is listed was removed.
graphs: list: Of each graph folder its address, folder, counts and bytes, and whether it is complete.
"""),
    ),
    "data check": (
        "As `data info` of a file, and the verdict.",
        [
            *keys("ok: true or false: True; what is not as it should be is an error.\nverdict: text: In words."),
            *GRAPH,
        ],
    ),
    "data convert": (
        "",
        keys("""
folder: path: The graph folder.
nodes: integer: Nodes.
edges: integer: Adjacency entries.
features: integer: Features of a node.
classes: integer: Classes.
directed: true or false: Whether edges have a direction.
times: true or false: Whether nodes have times.
bytes: integer: Bytes of its files.
remarks: list of text: What became of columns and edges.
"""),
    ),
    "probe leak": (
        "Guesses have `sets` and `nodes`: % of whole test sets, and of single test nodes, whose task is guessed.",
        keys("""
raw: Guesses: From features as they are.
local: Guesses: From features smoothed in two hops, in each task's own graph.
global: Guesses: From features smoothed in two hops, in the whole graph.
dataset: text: The data set.
tasks: integer: Tasks.
seeds: integer: Seeds averaged over.
chance: number: % that chance guesses.
remarks: list of text: What a reader of results should know.
"""),
    ),
    "learn": (
        "The step that was done, and the model.",
        [*FOLDER, *keys("new: true or false: Whether the model was made now."), *of(Step), *MODEL],
    ),
    "predict": (
        "Without `--out` also `predictions`, a list of `{id, label, probability, margin}`.",
        keys("""
nodes: integer: Nodes that were predicted.
unknown: integer: Nodes without an answer.
labelled: integer: Nodes that have a label in the file.
right: integer: Labelled nodes that are predicted right.
not_learned: integer: Labelled nodes whose label names a class that the model has not learned.
not_learned_classes: list of text: These classes.
remarks: list of text: What the person must know.
out: path or null: The file that was written.
"""),
    ),
    "inspect": (
        "An object of `history` is a step, as `learn` prints it.",
        [*FOLDER, *MODEL, *keys("history: list of Step: What happened, step by step.")],
    ),
    "forget": (
        "",
        [
            *FOLDER,
            *keys("""
nodes: integer: Nodes that were forgotten.
exact: true or false: Whether the model is as if they had never been learned.
statement: text: The same in words.
"""),
        ],
    ),
    "merge": ("", [*FOLDER, *MODEL]),
}
PARTS = (Means, Stat, Candidate, ClassAccuracy, Rejection)
"""What stands inside of these objects."""


def names(command: str) -> set[str]:
    """The keys that the page promises for a command."""
    as_well = RUN if command == "show" else []
    return {key.name for key in (*OUTPUTS[command][1], *as_well)}
