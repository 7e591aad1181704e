"""Model: what a model folder gives back."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evergraph.models.manifest import VERSION

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Model:
    """A stored model. manifest: its own content; files: further files by name; checksum: equal for equal models.

    version: of the format in which it was read; folders of versions 1 and 2 were saved by earlier classifiers.
    """

    manifest: dict[str, Any]
    tensors: "dict[str, Tensor]"
    files: dict[str, bytes] = field(default_factory=dict)
    checksum: str = ""
    version: int = VERSION
