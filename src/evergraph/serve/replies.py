"""What the answers look like, for the OpenAPI description."""

from typing import Any

from pydantic import BaseModel


class Prediction(BaseModel):
    """A node. margin: how far the next class is; probabilities: of all classes in their order, where asked for."""

    id: int | str
    label: int | str
    probability: float
    margin: float
    probabilities: list[float] | None = None


class Drawn(BaseModel):
    """Rows of the nodes that are drawn, their places from 0 to 1, and edges as pairs of positions in `nodes`."""

    nodes: list[int]
    x: list[float]
    y: list[float]
    edges: list[list[int]]
    remarks: list[str]


class PredictReply(BaseModel):
    """Whole numbers beyond 2^53 are text, because readers of JSON round them."""

    model: str
    checksum: str
    classes: list[int | str]
    predictions: list[Prediction]
    remarks: list[str]
    drawing: Drawn | None = None


class HealthReply(BaseModel):
    """accuracy: on held-out nodes, None without any; loads: how often the model was read since the start."""

    status: str
    model: str
    method: str
    classes: list[int | str]
    batches: int
    accuracy: float | None
    version: str
    checksum: str
    loads: int
    remark: str | None


class WantedColumn(BaseModel):
    """A column of the node table; kind: number, flag or category."""

    name: str
    kind: str
    categories: list[str] | None = None
    may_be_missing: bool


class LeftOutColumn(BaseModel):
    """A column of the first batch that is no feature."""

    name: str
    why: str


class Example(BaseModel):
    """Both tables as CSV."""

    nodes: str
    edges: str


class SchemaReply(BaseModel):
    """What a table of nodes must have."""

    id_column: str
    columns: list[WantedColumn]
    left_out: list[LeftOutColumn]
    example: Example


class ErrorReply(BaseModel):
    """One sentence: what was wanted, what came, what to do."""

    error: str


PREDICTION: dict[str, Any] = {"model": PredictReply}
HEALTH: dict[str, Any] = {"model": HealthReply}
SCHEMA: dict[str, Any] = {"model": SchemaReply}
ERROR: dict[str, Any] = {"model": ErrorReply}
