"""A t-SNE projection of the hidden layer of a finished model on the test nodes, as it is stored."""

from pathlib import Path

from pydantic import Field, model_validator

from evergraph.config import Settings, validated
from evergraph.errors import StoreError
from evergraph.parsing import read_json

FILE = "projection.json"


class ProjectionSettings(Settings):
    """The settings of a projection, besides the run."""

    seed: int = Field(ge=0, lt=2**32)
    """Of t-SNE and of the sample of nodes."""
    perplexity: float = Field(gt=0)
    """Of t-SNE."""
    most_nodes: int = Field(ge=2)
    """More test nodes than these are sampled, stratified by class."""


class Projection(Settings):
    """Coordinates of test nodes, and two measures of class separation in the hidden layer itself."""

    method: str
    """Name of the method."""
    backbone: str
    """Name of the backbone."""
    settings: ProjectionSettings
    """How the projection was made."""
    scikit_learn: str
    """Version of scikit-learn."""
    test_nodes: int
    """Test nodes of the run."""
    classes: tuple[tuple[int, str], ...]
    """Label and name of each class, in order of arrival."""
    silhouette: float | None
    """Mean of (b - a) / max(a, b), with a, b the mean distances to the own and the nearest other class."""
    agreement: float
    """The share of a node's ten nearest neighbours with its class, mean over the projected nodes."""
    labels: tuple[int, ...] = Field(min_length=1)
    """Label of each projected node."""
    x: tuple[float, ...]
    """First coordinate of each."""
    y: tuple[float, ...]
    """Second coordinate of each."""

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
        """The number of projected nodes, and of all if these are more."""
        total = f" of {self.test_nodes:,}" if self.test_nodes > len(self.labels) else ""
        return f"{len(self.labels):,}{total} test nodes"


def read_projection(folder: Path) -> Projection | None:
    """The projection in a run folder; None if it has none."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return validated(Projection, read_json(path, inside=True, constants=True), "projection")
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            f"{path} must hold a projection, got something else instead ({error}); delete it"
        ) from None
