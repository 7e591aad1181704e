# %% [markdown]
# # What FTF-ER keeps of a class, and what random keeps
#
# FTF-ER replays the nodes of each class with the highest score: a large gradient (GraNd) and a high Hodge
# potential. Here the kept nodes are drawn, beside as many random ones, with the package's own scores and
# selections, and then replayed.

# %%
import tempfile
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.decomposition import PCA

from evergraph import DATASETS, DataError, Graph, RunConfig, load_dataset, run, score_graph, summarise
from evergraph.replay.selection import Selection, mix, select
from evergraph.report.palette import light

# %% tags=["parameters"]
CLASS = 1
SEEDS = 3
EPOCHS = 100
DRAWS = 20
AMAZON = True
AMAZON_CLASS = 2
AMAZON_SEEDS = 0

# %% [markdown]
# ## Scores and selections
#
# Tasks have two classes each, as in the paper. For each task a network learns both classes; then every node has a
# gradient norm and a potential, both are brought to 0 … 1 within a class, and their mean (β = 0.5) is the score.
# The deterministic selection keeps the highest, the probabilistic one draws in proportion to the score, without
# replacement.

# %%
STYLES = {"deterministic": ("X", light(3)), "probabilistic": ("D", light(1)), "random": ("o", light(0))}


@dataclass(frozen=True)
class Class:
    """One class in the graph of its task: scores and degrees of its nodes, their rows there, their features."""

    graph: Graph
    rows: NDArray[np.int64]
    features: NDArray[np.float64]
    grand: NDArray[np.float64]
    potential: NDArray[np.float64]
    degree: NDArray[np.int64]
    budget: int

    def kept(self, selection: str, draw: int = 0) -> NDArray[np.int64]:
        """The places of the kept nodes among the nodes of the class."""
        rng = np.random.default_rng(draw)
        score = rng.random(len(self.rows)) if selection == "random" else mix(self.grand, self.potential, beta=0.5)
        how = Selection.PROBABILISTIC if selection == "probabilistic" else Selection.DETERMINISTIC
        return select(score, self.budget, how, rng)

    @property
    def distance(self) -> NDArray[np.float64]:
        """How far each node is from the mean of the class."""
        away: NDArray[np.float64] = np.linalg.norm(self.features - self.features.mean(axis=0), axis=1)
        return away

    def near(self, kept: NDArray[np.int64]) -> float:
        """The share of the class that is kept or has a kept neighbour."""
        here = np.zeros(self.graph.n_nodes)
        here[self.rows[kept]] = 1
        return float(np.mean((here + self.graph.adjacency @ here)[self.rows] > 0))


def unit_rows(graph: Graph) -> NDArray[np.float64]:
    """The features as a network gets them: rows of length 1."""
    features = graph.features
    plain = features.toarray() if isinstance(features, sparse.csr_array) else np.asarray(features)
    rows: NDArray[np.float64] = plain / np.maximum(np.linalg.norm(plain, axis=1, keepdims=True), 1e-12)
    return rows


def classes_of(graph: Graph, epochs: int) -> list[Class]:
    """All classes of a data set, two by two, each scored in the graph of its task."""
    config = RunConfig.from_values({"dataset": {"name": graph.name}, "train": {"epochs": epochs}})
    found = []
    for first in range(0, int(graph.labels.max()), 2):
        task = graph.subgraph(np.flatnonzero(np.isin(graph.labels, (first, first + 1))))
        grand, potential = (score_graph(task, name, config).value for name in ("grand", "hps"))
        for label in (first, first + 1):
            rows = np.flatnonzero(task.labels == label)
            degree = np.diff(task.adjacency.indptr)[rows]
            own = unit_rows(task)[rows]
            budget = DATASETS[graph.name].budget
            found.append(Class(task, rows, own, grand[rows], potential[rows], degree, budget))
    return found


digits = load_dataset("digits")
classes = classes_of(digits, EPOCHS)
shown = classes[CLASS]
print(f"digit {CLASS}: {len(shown.rows)} images, {shown.budget} of them kept")

# %% [markdown]
# ## The kept images
#
# A node of this graph is an image, joined to its ten nearest images.

# %%
figure, panels = plt.subplots(3, shown.budget, figsize=(10, 3.6), layout="constrained")
figure.suptitle(f"The {shown.budget} images of digit {CLASS} that each selection keeps")
for line, name in zip(panels, STYLES, strict=True):
    for axes, place in zip(line, shown.kept(name), strict=True):
        axes.imshow(shown.features[place].reshape(8, 8), cmap="gray_r")
        axes.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()

# %% [markdown]
# ## Where they are
#
# The two classes of the task on a plane (the first two principal components of the features). The circles are the
# class, the small crosses the other class of its task.


# %%
def map_of(one: Class) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The nodes of a class, and those of the other class of its task, on the plane."""
    everything = unit_rows(one.graph)
    plane = PCA(2, random_state=0).fit_transform(everything)
    return plane[one.rows], np.delete(plane, one.rows, axis=0)


def draw_map(axes: Axes, one: Class, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    own, other = map_of(one)
    axes.scatter(other[:, 0], other[:, 1], marker="+", s=18, linewidth=0.6, color="#b8c2cc")
    if values is None:
        axes.scatter(own[:, 0], own[:, 1], s=12, facecolor="none", edgecolor="#7b8794", linewidth=0.6)
    else:
        order = np.argsort(values)
        points = axes.scatter(own[order, 0], own[order, 1], s=16, c=values[order], cmap="cividis_r")
        plt.colorbar(points, ax=axes, shrink=0.8)
    axes.set(xticks=[], yticks=[])
    return own


def log_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(low, high)


def draw_kept(one: Class, name: str) -> None:
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
    figure.suptitle(f"{name}: what each selection keeps")
    for axes, (selection, (marker, colour)) in zip(panels, STYLES.items(), strict=True):
        own, kept = draw_map(axes, one), one.kept(selection)
        axes.scatter(
            own[kept, 0], own[kept, 1], marker=marker, s=55, color=colour, edgecolor="black", linewidth=0.6
        )
        axes.set_title(
            f"{selection}: {one.near(kept):.0%} of the class is\nkept or has a kept neighbour", loc="left"
        )
    plt.show()


draw_kept(shown, f"Digit {CLASS}")

# %% [markdown]
# ## Where the scores are high
#
# The gradient is large where the network is nearly wrong: towards the other class, and at images unlike the rest.
# The potential of an undirected graph solves a Laplacian equation with the degrees on its right-hand side: it is
# low at hubs and high at nodes with few neighbours, and high neighbours make a node high.


# %%
def draw_scores(one: Class, name: str) -> None:
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
    figure.suptitle(f"{name}: where the two scores are high")
    draw_map(panels[0], one, np.log10(one.grand + 1e-6))
    panels[0].set_title("gradient norm, log₁₀", loc="left")
    draw_map(panels[1], one, one.potential)
    panels[1].set_title("Hodge potential", loc="left")
    panels[2].scatter(one.degree, one.potential, s=12, color=light(0))
    log_axis(panels[2])
    panels[2].set_title("potential and degree", loc="left")
    panels[2].set(xlabel="neighbours in the task's graph", ylabel="Hodge potential")
    plt.show()


def print_correlations(found: list[Class]) -> None:
    """Spearman's rank correlations, averaged over the classes."""
    pairs = {
        "potential, degree": [spearmanr(one.potential, one.degree)[0] for one in found],
        "gradient, degree": [spearmanr(one.grand, one.degree)[0] for one in found],
        "gradient, distance to the class mean": [spearmanr(one.grand, one.distance)[0] for one in found],
    }
    for name, values in pairs.items():
        print(f"{name:38}{np.mean(values):+.2f}")


draw_scores(shown, f"Digit {CLASS}")
print_correlations(classes)

# %% [markdown]
# ## What the kept nodes are like
#
# All ten classes together. Each line shows for which share of the kept nodes a value is at most so large; the
# black line is all nodes, which a good sample should follow.


# %%
def shares(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.sort(values), 100 * np.arange(1, len(values) + 1) / len(values)


def draw_distributions(found: list[Class], name: str) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained", sharey=True)
    figure.suptitle(f"{name}: the kept nodes of all classes beside all nodes")
    titles = ("neighbours in the task's graph", "distance to the class mean, over its average")
    for axes, title, attribute in zip(panels, titles, ("degree", "distance"), strict=True):
        scale = [1.0 if attribute == "degree" else getattr(one, attribute).mean() for one in found]
        values = [getattr(one, attribute) / unit for one, unit in zip(found, scale, strict=True)]
        axes.plot(*shares(np.concatenate(values)), color="black", linewidth=2.5, label="all nodes")
        for (selection, (_, colour)), line in zip(STYLES.items(), ("-", "--", "-."), strict=True):
            own = [value[one.kept(selection)] for one, value in zip(found, values, strict=True)]
            axes.plot(*shares(np.concatenate(own)), color=colour, linestyle=line, linewidth=1.8, label=selection)
        axes.set_xlabel(title)
        axes.grid(alpha=0.3)
    log_axis(panels[0])
    panels[0].set_ylabel("share of the nodes, %")
    panels[0].legend(frameon=False)
    plt.show()


def compared(found: list[Class]) -> pd.DataFrame:
    """Averages over the classes, and over draws where a selection draws."""
    rows = {}
    for selection in STYLES:
        draws = range(1 if selection == "deterministic" else DRAWS)
        values = [
            (
                one.degree[kept].mean(),
                one.distance[kept].mean() / one.distance.mean(),
                np.linalg.norm(one.features[kept].mean(axis=0) - one.features.mean(axis=0)) / one.distance.mean(),
                one.graph.subgraph(one.rows[kept]).n_edges / len(kept),
                100 * one.near(kept),
            )
            for one in found
            for kept in (one.kept(selection, draw) for draw in draws)
        ]
        rows[selection] = np.mean(values, axis=0)
    columns = ["neighbours", "distance", "mean off", "kept neighbours", "near, %"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


draw_distributions(classes, "Digits")
table = compared(classes)
print(table.round(2).to_string())

# %% [markdown]
# *distance*: of the kept nodes to the class mean, 1 for the average node; *mean off*: from the mean of the kept
# nodes to the class mean, in the same unit; *kept neighbours*: which is all that replay sees of a neighbourhood;
# *near*: the share of the class that is kept or has a kept neighbour.
#
# ## What they teach
#
# The three selections in whole runs: five tasks, everything but the choice of nodes alike.


# %%
METHODS = {"deterministic": "ftf-er-det", "probabilistic": "ftf-er-prob", "random": "random-replay"}


def accuracies(name: str, seeds: int, epochs: int) -> dict[str, NDArray[np.float64]]:
    """For each selection the final accuracy of each class in each seed: (seeds, classes), in percent."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for selection, method in METHODS.items():
            lines = []
            for seed in range(seeds):
                values = {
                    "dataset": {"name": name},
                    "method": {"name": method},
                    "train": {"epochs": epochs},
                    "seeds": {"split": seed, "order": seed, "init": seed},
                }
                lines.append(summarise(run(RunConfig.from_values(values), folder).record).per_class)
            found[selection] = np.array(lines, dtype=float)
    return found


def draw_accuracies(found: dict[str, NDArray[np.float64]], name: str) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(11, 3.9), width_ratios=(3, 1), layout="constrained")
    figure.suptitle(f"{name}: accuracy after the last task, tested in the tasks' graphs")
    for at, (selection, (marker, colour)) in enumerate(STYLES.items()):
        each = found[selection]
        place = np.arange(each.shape[1]) + 0.22 * (at - 1)
        panels[0].plot(place, each.mean(axis=0), marker, color=colour, markeredgecolor="black", label=selection)
        panels[0].vlines(place, each.min(axis=0), each.max(axis=0), color=colour)
        panels[1].plot(np.full(len(each), at), each.mean(axis=1), marker, color=colour, markeredgecolor="black")
    panels[0].set(xlabel="class, in order of arrival (the line spans the seeds)", ylabel="accuracy, %")
    panels[0].set_xticks(range(next(iter(found.values())).shape[1]))
    panels[0].legend(frameon=False, loc="lower right")
    panels[1].set_xticks(range(3), ["determ.", "probab.", "random"])
    panels[1].set_title("mean of all classes, each seed", loc="left", fontsize=10)
    panels[1].margins(x=0.25)
    for axes in panels:
        axes.grid(axis="y", alpha=0.3)
    plt.show()


def print_accuracies(found: dict[str, NDArray[np.float64]]) -> None:
    for selection, each in found.items():
        means = each.mean(axis=1)
        print(f"{selection:14} {means.mean():5.1f} %   each seed: {'  '.join(f'{mean:.1f}' for mean in means)}")


results = accuracies("digits", SEEDS, EPOCHS)
draw_accuracies(results, "Digits")
print_accuracies(results)

# %% [markdown]
# Does a class suffer where less of it is near a kept node? Every class but those of the last task, which were
# only just learned, with every selection is a point.


# %%
def draw_coverage(found: list[Class], results: dict[str, NDArray[np.float64]], name: str) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3.9), layout="constrained")
    figure.suptitle(f"{name}: old classes, what is near a kept node and what is still known")
    points = []
    for selection, (marker, colour) in STYLES.items():
        draws = range(1 if selection == "deterministic" else DRAWS)
        old = results[selection].mean(axis=0)[:-2]
        near = [100 * np.mean([one.near(one.kept(selection, draw)) for draw in draws]) for one in found[: len(old)]]
        axes.plot(near, old, marker, color=colour, markeredgecolor="black", label=selection)
        points += list(zip(near, old, strict=True))
    axes.set(xlabel="of the class kept or beside a kept node, %", ylabel="accuracy of the class, %")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    plt.show()
    print(f"rank correlation of both: {spearmanr(*zip(*points, strict=True))[0]:+.2f}")


draw_coverage(classes, results, "Digits")

# %% [markdown]
# ## The same on Amazon Computers
#
# Products that are bought together, where the file is found (`EVERGRAPH_DATA`): 13,381 products, sixty of each
# class are kept.

# %%
try:
    amazon = load_dataset("amazon-computers", download=False) if AMAZON else None
except DataError:
    amazon = None
if amazon is None:
    print("amazon-computers is left out here")
else:
    bought = classes_of(amazon, EPOCHS)
    draw_kept(bought[AMAZON_CLASS], f"Amazon Computers, class {AMAZON_CLASS}")
    draw_scores(bought[AMAZON_CLASS], f"Amazon Computers, class {AMAZON_CLASS}")
    draw_distributions(bought, "Amazon Computers")
    print_correlations(bought)
    print(compared(bought).round(2).to_string())

# %% [markdown]
# Replay takes minutes on this graph, so it is left to a parameter (`AMAZON_SEEDS`).
# [REPRODUCIBILITY.md](../../REPRODUCIBILITY.md#table-2-main-results) has these runs with the same
# network and five seeds.

# %%
if amazon is not None and AMAZON_SEEDS:
    amazon_results = accuracies("amazon-computers", AMAZON_SEEDS, EPOCHS)
    draw_accuracies(amazon_results, "Amazon Computers")
    draw_coverage(bought, amazon_results, "Amazon Computers")
    print_accuracies(amazon_results)

# %% [markdown]
# ## What follows
#
# - The two scores like the same nodes: those with few neighbours, at the edge of the class. Each has its reason:
#   the network errs there, and a potential is high in what hangs loosely on the rest.
# - On digits the highest scores are neighbours of each other, so the deterministic selection keeps one corner of
#   a class and nothing of the rest. Of digit 1 it keeps a single way of writing it, and the others are forgotten:
#   this one class costs most of the accuracy.
# - Low coverage is a risk, not a verdict: some digits are known to the end although as little of them is near a
#   kept node. They came later than digit 1 and had less time to be forgotten, or one corner of them was enough.
# - Random nodes follow the class in degree, distance and place. Drawing in proportion to the score comes close to
#   that: it is between the two in degree, distance and coverage. On digits its accuracy is that of random within
#   what the seeds differ, though digit 1 is still the worst.
# - Amazon agrees in degrees and coverage, and disagrees in the rest: there the kept nodes are about as far from
#   the class mean as any, and no more neighbours of each other than random ones. So it is the place in the graph
#   that both have in common. In [these runs](../../REPRODUCIBILITY.md#amazon-computers) random is first there, the
#   probabilistic selection behind it, the deterministic one far behind.
# - This describes, and suggests a cause; it does not prove one.
