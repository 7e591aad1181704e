"""Named tensors as bytes in the safetensors format, and back, checked."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import StoreError

if TYPE_CHECKING:
    from torch import Tensor

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
"""What a tensor of a model may hold."""

RESERVED = "__metadata__"
"""A name that the safetensors format has for itself."""

NanIn = Callable[[str], bool]
"""Whether NaN means something in the tensor of this name."""


def tensor_bytes(tensors: "Mapping[str, Tensor]") -> bytes:
    """Named tensors in the safetensors format."""
    from safetensors.torch import save

    return save({name: value.detach().cpu().contiguous() for name, value in tensors.items()})


def tensors_from(content: bytes) -> "dict[str, Tensor]":
    """The inverse of `tensor_bytes`; StoreError where the bytes are something else."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(content)
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError, OverflowError) as error:
        raise StoreError(f"tensors in the safetensors format are wanted, got something else ({error})") from None


def as_tensors(tensors: "Mapping[str, Tensor | NDArray[Any]]") -> "dict[str, Tensor]":
    """Dense tensors of the types that can be stored; StoreError for others."""
    import torch

    found = {}
    for name, value in tensors.items():
        if not isinstance(name, str) or name == RESERVED or not isinstance(value, torch.Tensor | np.ndarray):
            raise StoreError(f"named tensors or arrays are wanted, got {type(value).__name__} for {name!r} instead")
        try:
            tensor = torch.as_tensor(value)
        except (TypeError, ValueError) as error:
            raise StoreError(f"the array {name} must be of numbers, got something else instead ({error})") from None
        if tensor.layout is not torch.strided or dtype_name(tensor) not in DTYPES:
            raise StoreError(
                f"the tensor {name} must be dense and of {', '.join(DTYPES)}, got {tensor.dtype} instead"
            )
        found[name] = tensor
    return found


def forbid_nan(tensors: "Mapping[str, Tensor]", nan_in: NanIn, where: object) -> None:
    """StoreError where a tensor has a NaN that means nothing."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and bool(tensor.isnan().any()) and not nan_in(name):
            raise StoreError(
                f"{where} must have numbers in the tensor {name}, got NaN instead; learn the model again"
            )


def described(tensors: "Mapping[str, Tensor]") -> dict[str, list[Any]]:
    """Type and shape of each tensor, for the manifest."""
    return {name: [dtype_name(tensor), *tensor.shape] for name, tensor in tensors.items()}


def dtype_name(tensor: "Tensor") -> str:
    return str(tensor.dtype).removeprefix("torch.")
