"""Reading .npz archives without pickle; whatever is wrong with one becomes a DataError in one sentence."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.errors import DataError

Arrays = Mapping[str, NDArray[Any]]


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Put the name of the file before the message of a DataError raised inside."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn every way in which an archive can be broken into a DataError."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path} must be an .npz archive, got no such file instead; check the path") from None
    except DataError:
        raise
    except (OSError, EOFError, KeyError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        if "pickle" in str(error):
            raise DataError(
                f"{path.name} must hold plain arrays, got pickled objects instead; save them as numbers or as text"
            ) from None
        raise DataError(
            f"{path.name} must be a complete .npz archive, got a broken one instead ({_brief(error)}); "
            "copy or download it again"
        ) from None


def _brief(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")


def read_arrays(path: Path, wanted: Iterable[str]) -> Arrays:
    """Those of the wanted arrays that the archive holds; the others in it are never touched."""
    with readable(path):
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise DataError(f"{path.name} must be an .npz archive, got a single array (.npy) instead")
        with archive:
            return {key: archive[key] for key in wanted if key in archive.files}


def require(arrays: Arrays, keys: Iterable[str]) -> None:
    """Raise unless every key is there."""
    keys = tuple(keys)
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise DataError(f"the archive must hold the keys {', '.join(keys)}, got none called {missing[0]!r} instead")


def csr_from(arrays: Arrays, prefix: str) -> sparse.csr_array:
    """The matrix stored under `<prefix>_data`, `_indices`, `_indptr` and `_shape`, with every index checked."""
    keys = [f"{prefix}_{part}" for part in ("data", "indices", "indptr", "shape")]
    require(arrays, keys)
    data, indices, indptr, shape = (arrays[key] for key in keys)
    for key in keys[1:]:
        if arrays[key].dtype.kind not in "iu" or arrays[key].ndim != 1:
            raise DataError(f"{key} must be one row of whole numbers, got {_described(arrays[key])} instead")
    if data.dtype.kind not in "iufb":
        raise DataError(f"{keys[0]} must be numbers, got {_described(data)} instead")
    if shape.shape != (2,):
        raise DataError(f"{keys[3]} must be two whole numbers, got {_described(shape)} instead")
    try:
        matrix = sparse.csr_array((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise DataError(f"{prefix}_* must be a valid CSR matrix, got one where {_brief(error)} instead") from None
    return matrix


def _described(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"
