"""The ways to compute the Hodge potential, and which of them a graph gets."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.sparse import csr_array, issparse

from evergraph.errors import ConfigError


class Method(Enum):
    """How the Hodge potential is computed.

    MEMORY: with copies of the adjacency in memory. BLOCKS: with products straight from the arrays of the adjacency,
    which may be memory maps. PETSC: by PETSc, in processes of MPI that share the rows and read them from such maps.
    """

    MEMORY = "memory"
    BLOCKS = "blocks"
    PETSC = "petsc"


BYTES_PER_ENTRY, BYTES_PER_DIRECTED_ENTRY = 60, 150
"""What MEMORY needs for each entry of the adjacency, with all copies; measured."""
DEFAULT_MEMORY = 2_000_000_000
"""Bytes that BLOCKS may use where none are given."""


@dataclass(frozen=True)
class Solving:
    """How the potential of a graph is computed where a person may choose: see `hodge_potential`."""

    method: Method | None = None
    """None for a choice by size."""
    memory: int = DEFAULT_MEMORY
    """Bytes that BLOCKS may use besides vectors of the size of the nodes."""
    ranks: int | None = None
    """Processes of PETSC; None for two."""


def named_method(method: Method | str | None) -> Method | None:
    """The method of this name; ConfigError where there is none."""
    if method not in (None, *Method, *(entry.value for entry in Method)):
        names = ", ".join(entry.value for entry in Method)
        raise ConfigError(
            f"method has to be one of {names}, got {method!r} instead; leave it out for a choice by size"
        )
    return None if method is None else Method(method)


def chosen_method(adjacency: csr_array, method: Method | str | None, memory: int, *, directed: bool) -> Method:
    """The method that was named; without one BLOCKS for a memory map of which MEMORY would need more bytes."""
    named = named_method(method)
    if named is not None:
        return named
    is_mapped = issparse(adjacency) and isinstance(getattr(adjacency, "indices", None), np.memmap)
    needed = BYTES_PER_DIRECTED_ENTRY if directed else BYTES_PER_ENTRY
    return Method.BLOCKS if is_mapped and adjacency.nnz * needed > memory else Method.MEMORY
