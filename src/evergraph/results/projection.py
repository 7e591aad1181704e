"""Projection: what a finished model sees of the test nodes, in two dimensions (t-SNE), as it is kept and shown."""

import json
from pathlib import Path

from pydantic import Field, model_validator

from evergraph.config import Settings, validated
from evergraph.errors import StoreError

FILE = "projection.json"


class ProjectionSettings(Settings):
    """What decides a projection, besides the run."""

    seed: int = Field(ge=0, lt=2**32)
    perplexity: float = Field(gt=0)
    most_nodes: int = Field(ge=2)


class Projection(Settings):
    """A place in the plane for each test node, and how far the classes are apart in the representation itself.

    test_nodes: all there are; of more than settings.most_nodes a sample is projected, of each class its share.
    classes: label and name of each class, in order of arrival; labels, x, y: one for each projected node.
    silhouette: mean of (b - a) / max(a, b), with a, b the mean distances to the own and the nearest other class.
    agreement: the share of a node's ten nearest neighbours that are of its class, mean over the projected nodes.
    """

    method: str
    backbone: str
    settings: ProjectionSettings
    scikit_learn: str
    test_nodes: int
    classes: tuple[tuple[int, str], ...]
    silhouette: float | None
    agreement: float
    labels: tuple[int, ...] = Field(min_length=1)
    x: tuple[float, ...]
    y: tuple[float, ...]

    @model_validator(mode="after")
    def _every_node_has_a_place_and_a_class(self) -> "Projection":
        if not len(self.labels) == len(self.x) == len(self.y) <= self.test_nodes:
            raise ValueError("a label and a place for each node are wanted, got different numbers of them instead")
        unnamed = set(self.labels) - {label for label, _ in self.classes}
        if unnamed:
            raise ValueError(f"labels of the listed classes are wanted, got {min(unnamed)} instead")
        return self

    @property
    def nodes(self) -> str:
        """How many nodes are shown, and of how many where that is not all of them."""
        total = f" of {self.test_nodes:,}" if self.test_nodes > len(self.labels) else ""
        return f"{len(self.labels):,}{total} test nodes"


def read_projection(folder: Path) -> Projection | None:
    """The projection kept in a run folder, if there is one."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return validated(Projection, json.loads(path.read_text(encoding="utf-8")), "projection")
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            f"{path} must hold a projection, got something else instead ({error}); delete it"
        ) from None
