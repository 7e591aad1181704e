"""What a finished run has to tell to be shown, checked where it is read; other keys are left alone."""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from evergraph.config import one_sentence
from evergraph.errors import StoreError
from evergraph.results.projection import Projection

Percentages: TypeAlias = Annotated[list[float | None], Field(min_length=1)]


class Checked(BaseModel):
    """Exact types, no NaN, other keys ignored."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)


class Named(Checked):
    name: str


class DatasetName(Named):
    features: str | None = None


class ConfigNames(Checked):
    """The settings that every run has."""

    dataset: DatasetName
    backbone: Named
    method: Named


class Data(Checked):
    name: str
    nodes: int | None = None
    edges: int | None = None
    features: int | None = None
    tasks: int | None = None
    remarks: list[str]
    messages: list[str] = []
    class_order: list[int] | None = None
    class_names: list[str] | None = None


class Accuracy(Checked):
    aa: float


class Memory(Checked):
    nodes: int = 0
    edges: int = 0
    bytes: int


class Facts(Checked):
    """A finished run as a small record has it; accuracies in percent, on test unless named else."""

    config: ConfigNames
    data: Data
    versions: dict[str, str]
    finished: str = ""
    aa: float
    af: float
    val: Accuracy
    plain: Accuracy
    matrix: list[Percentages] = Field(min_length=1)
    per_class: Percentages
    seconds: dict[str, float]
    memory: Memory
    peak_bytes: int
    projection: Projection | None = None

    @field_validator("matrix")
    @classmethod
    def _an_accuracy_on_every_task_so_far(cls, matrix: list[Percentages]) -> list[Percentages]:
        if any(len(row) != len(matrix) for row in matrix):
            raise ValueError(f"{len(matrix)} columns are wanted, as many as rows, got others instead")
        if any(None in row[: after + 1] for after, row in enumerate(matrix)):
            raise ValueError("an accuracy on every task learned so far is wanted, got none instead")
        return matrix

    @field_validator("per_class")
    @classmethod
    def _an_accuracy_for_every_class(
        cls, accuracies: list[float | None], info: ValidationInfo
    ) -> list[float | None]:
        data: Data | None = info.data.get("data")
        order, names = (data.class_order, data.class_names) if data else (None, None)
        for key, values in (("class_order", order), ("class_names", order and names)):
            if values and len(values) != len(accuracies):
                raise ValueError(f"{len(values)} are wanted, as in data.{key}, got {len(accuracies)} instead")
        return accuracies

    @property
    def classes(self) -> list[tuple[int, str]] | None:
        """Label and name of each class in the order of arrival, where that is known."""
        order = self.data.class_order
        return list(zip(order, self.data.class_names or map(str, order), strict=True)) if order else None


def checked_facts(values: dict[str, Any], source: str) -> Facts:
    """The facts of a run; StoreError in one sentence that names the source and the key."""
    try:
        return Facts.model_validate(values)
    except ValidationError as error:
        raise StoreError(f"{source} must hold a finished run: {one_sentence(error, Facts, '')}") from None
