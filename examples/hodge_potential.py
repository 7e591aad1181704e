# %% [markdown]
# # Flows on a graph and the Hodge potential
#
# Hodge theory splits a flow on the edges of a graph into three parts: one with a goal, one that circles around
# triangles, one that circles around holes. The score of FTF-ER is a potential of this kind. `evergraph.hodge`
# needs numpy and scipy only.

# %%
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.stats import spearmanr

from evergraph.hodge import curl, divergence, edge_list, gradient, hodge_decomposition, hodge_potential
from evergraph.report.palette import light

# %% tags=["parameters"]
PAPERS = 1500
HOUSES = 300

# %% [markdown]
# ## A small town around a lake
#
# Twelve squares, joined by streets; in the middle is a lake. We count who walks where: people go to the station
# (in the east), some take a walk around the lake, and at one corner people circle around a block. A flow has one
# number for each street, in the order of `edge_list`, positive from the first square to the second.

# %%
angle = np.arange(6) * np.pi / 3
inner = np.stack([np.cos(angle), np.sin(angle)], axis=1)
outer = 2 * np.stack([np.cos(angle + np.pi / 6), np.sin(angle + np.pi / 6)], axis=1)
place = np.concatenate([inner, outer])
streets = [(k, (k + 1) % 6) for k in range(6)] + [(6 + k, 6 + (k + 1) % 6) for k in range(6)]
streets += [(k, 6 + k) for k in range(6)] + [((k + 1) % 6, 6 + k) for k in range(6)]
matrix = np.zeros((12, 12))
for one, other in streets:
    matrix[one, other] = matrix[other, one] = 1
town = csr_array(matrix)
edges = edge_list(town)

station = -np.linalg.norm(place - (2.4, 0.8), axis=1)
to_station = 1.5 * (gradient(town) @ station)
step = place[edges.head] - place[edges.tail]
middle = (place[edges.head] + place[edges.tail]) / 2
around_lake = np.where(np.linalg.norm(middle, axis=1) < 1, step[:, 1] * middle[:, 0] - step[:, 0] * middle[:, 1], 0)
block = np.eye(curl(town).shape[0])[2] @ curl(town)
flow = to_station + 2 * around_lake + 1.5 * block + np.random.default_rng(0).normal(0, 0.1, len(edges))

parts = hodge_decomposition(town, flow)


# %%
def draw_flow(axes: Axes, values: NDArray[np.float64], title: str, colour: str) -> None:
    """Streets in grey; arrows as wide as their flow is large."""
    for one, other, value in zip(edges.tail, edges.head, values, strict=True):
        axes.plot(*place[[one, other]].T, color="#d9dfe4", linewidth=1, zorder=0)
        start, end = (one, other) if value > 0 else (other, one)
        if abs(value) > 0.05:
            begin, along = place[start], place[end] - place[start]
            style = {
                "arrowstyle": "-|>",
                "linewidth": 0.4 + 1.8 * abs(value),
                "color": colour,
                "shrinkA": 0,
                "shrinkB": 0,
            }
            axes.annotate("", begin + 0.82 * along, begin + 0.18 * along, arrowprops=style)
    axes.scatter(place[:, 0], place[:, 1], s=30, color="white", edgecolor="#1f2933", zorder=3)
    axes.plot(2.4, 0.8, "*", color="#1f2933", markersize=9)
    axes.text(0, 0, "lake", ha="center", va="center", style="italic", color="#52606d")
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.margins(0.1)


shares = [np.sum(part**2) / np.sum(flow**2) for part in (parts.gradient, parts.curl, parts.harmonic)]
figure, panels = plt.subplots(1, 4, figsize=(13, 3.8), layout="constrained")
figure.suptitle("A flow and its three parts: to the station (★), around triangles, around the lake")
draw_flow(panels[0], flow, "the flow", "#1f2933")
draw_flow(panels[1], parts.gradient, f"gradient, {shares[0]:.0%}", light(0))
draw_flow(panels[2], parts.curl, f"curl, {shares[1]:.0%}", light(3))
draw_flow(panels[3], parts.harmonic, f"harmonic, {shares[2]:.0%}", light(1))
plt.show()
print(f"the shares add up to {sum(shares):.6f}")
print(f"curl of the gradient part: {np.abs(curl(town) @ parts.gradient).max():.1e}")
print(f"divergence of the curl part: {np.abs(divergence(town) @ parts.curl).max():.1e}")
harmonic = max(np.abs(curl(town) @ parts.harmonic).max(), np.abs(divergence(town) @ parts.harmonic).max())
print(f"curl and divergence of the harmonic part: {harmonic:.1e}")
highest = parts.potential.value.argmax()
print(f"the potential is highest at square {highest}, nearest to the station: {station.argmax()}")

# %% [markdown]
# The gradient part is the way to the station: its potential is highest at the square nearest to it. The walk
# around the lake is no gradient, since it comes back to where it began, and no curl, since the lake is no
# triangle.
#
# ## Who came first? Papers and what they cite
#
# A directed graph is a set of comparisons: each citation says that the cited paper is the older one.
# `hodge_potential` finds the heights that fit all of them best; heads of edges are higher. Citations here go to
# earlier papers, famous ones first, but one in twenty goes the wrong way, as between papers of one conference.

# %%
rng = np.random.default_rng(1)
tails, heads = [], []
fame = np.ones(PAPERS)
for paper in range(5, PAPERS):
    recent = np.exp((np.arange(paper) - paper) / (PAPERS / 8))  # old papers are slowly forgotten
    chance = fame[:paper] * recent
    cited = rng.choice(paper, 5, replace=False, p=chance / chance.sum())
    fame[cited] += 1
    wrong = rng.random(5) < 0.05
    tails += np.where(wrong, cited, paper).tolist()
    heads += np.where(wrong, paper, cited).tolist()
citations = csr_array((np.ones(len(tails)), (tails, heads)), shape=(PAPERS, PAPERS))
solution = hodge_potential(citations, directed=True)
age = -np.arange(PAPERS)
times_cited = np.asarray(citations.sum(axis=0)).ravel()

figure, panels = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
figure.suptitle("The age of a paper: by the potential, and by how often it is cited")
for axes, values, title in zip(
    panels, (solution.value, times_cited), ("Hodge potential", "times cited"), strict=True
):
    axes.plot(np.arange(PAPERS), values, ".", color=light(0), markersize=3)
    axes.set_title(f"{title}: rank correlation with age {spearmanr(values, age)[0]:.2f}", loc="left", fontsize=10)
    axes.set(xlabel="paper, in order of appearance", ylabel=title)
    axes.grid(alpha=0.3)
plt.show()
by_potential, by_citations = spearmanr(solution.value, age)[0], spearmanr(times_cited, age)[0]
print(f"potential and age: {by_potential:.2f}, cited and age: {by_citations:.2f}")
print(f"certificate: relative residual {solution.residual:.0e} after {solution.iterations} iterations")

# %% [markdown]
# ## A city, a village and a road: the score of FTF-ER
#
# In an undirected graph nothing is compared, and the paper's score is S = -(D - A)† A 1: the potential of a flow
# with a source at each node that has fewer neighbours than the average, and a sink at each that has more. Houses
# are joined to those nearby; one road leads to a village.

# %%
rng = np.random.default_rng(2)


def settlement(points: NDArray[np.float64], reach: float) -> tuple[NDArray[np.float64], csr_array]:
    """Houses that are joined where they are near each other, without those that are connected with few others."""
    pairs = cKDTree(points).query_pairs(reach, output_type="ndarray")
    joined = csr_array(
        (np.ones(2 * len(pairs)), np.concatenate([pairs, pairs[:, ::-1]]).T), shape=(len(points),) * 2
    )
    _, label = connected_components(joined)
    largest = np.flatnonzero(label == np.bincount(label).argmax())
    return points[largest], csr_array(joined[largest][:, largest])


city, city_streets = settlement(rng.normal(0, 1, (HOUSES, 2)), 0.4)
village, village_streets = settlement(rng.normal((4.5, 1), 0.45, (HOUSES // 8, 2)), 0.4)
houses = np.concatenate([city, village])
rural = np.arange(len(houses)) >= len(city)
land = block_diag([city_streets, village_streets], format="lil")
distance, nearest = cKDTree(city).query(village)
gate = int(distance.argmin())
land[len(city) + gate, nearest[gate]] = land[nearest[gate], len(city) + gate] = 1
land = csr_array(land)
degree = np.diff(land.indptr)
score = hodge_potential(land).value
top = np.argsort(-score)[: int(rural.sum())]

figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(3, 2), layout="constrained")
figure.suptitle("The potential of an undirected graph: low where it is dense, high in what hangs on it")
lines = edge_list(land)
for one, other in zip(lines.tail, lines.head, strict=True):
    panels[0].plot(*houses[[one, other]].T, color="#d9dfe4", linewidth=0.6, zorder=0)
points = panels[0].scatter(
    houses[:, 0], houses[:, 1], c=score, cmap="cividis_r", s=18, edgecolor="#52606d", linewidth=0.3
)
panels[0].set_aspect("equal")
panels[0].axis("off")
plt.colorbar(points, ax=panels[0], label="Hodge potential", shrink=0.8)
for inside, marker, at, name in ((~rural, "o", 0, "city"), (rural, "D", 1, "village")):
    panels[1].plot(degree[inside], score[inside], marker, color=light(at), markersize=4, label=name)
panels[1].set(xlabel="neighbours", ylabel="Hodge potential")
panels[1].legend(frameon=False)
panels[1].grid(alpha=0.3)
plt.show()
print(f"rank correlation with the degree: {spearmanr(score, degree)[0]:+.2f} in all, "
      f"{spearmanr(score[~rural], degree[~rural])[0]:+.2f} within the city")  # fmt: skip
print(f"of the {len(top)} highest houses {np.mean(rural[top]):.0%} are in the village, "
      f"which has {np.mean(rural):.0%} of all houses")  # fmt: skip

# %% [markdown]
# The village is high as a whole, whatever the degrees in it: all that its sources supply leaves over the one
# road, so the road has to fall by as much. This is exact: the step over a bridge is the sum of what the degrees
# on its far side lack.

# %%
(over,) = [row for row in range(len(lines)) if rural[lines.tail[row]] != rural[lines.head[row]]]
step_over = abs(score[lines.head[over]] - score[lines.tail[over]])
lacking = abs(np.sum(degree.mean() - degree[rural]))
print(f"step over the road: {step_over:.6f}; lacking in the village: {lacking:.6f}")

# %% [markdown]
# Whoever keeps the nodes of highest potential, keeps such villages and leaves the city out. The notebook
# `what_ftf_er_keeps` shows that this happens to classes of a real data set.
