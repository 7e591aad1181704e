"""Reading .npz archives without pickle; whatever is wrong with one becomes a DataError in one sentence."""

import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph_folder.npy import array_bytes, read_header
from evergraph.errors import DataError
from evergraph.limits import forbid_more_than_memory

Arrays = Mapping[str, NDArray[Any]]
BROKEN = (
    OSError,
    EOFError,
    LookupError,
    ValueError,
    ArithmeticError,
    RuntimeError,
    TypeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)
"""What an archive that was damaged, or made to do harm, leads to in the libraries that read it."""
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How numpy writes archives. Other ways need memory that the size of an array does not tell."""
VERSIONS = ((1, 0), (2, 0))


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
    except BROKEN as error:
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
        archive = np.load(path, mmap_mode="r", allow_pickle=False)  # the size of a single array may be a lie
        if isinstance(archive, np.ndarray):
            raise DataError(f"{path.name} must be an .npz archive, got a single array (.npy) instead")
        with archive:
            inside = set(archive.zip.namelist())
            keys = [key for key in wanted if f"{key}.npy" in inside]
            needed = sum(_checked_size(archive.zip, key) for key in keys)
            forbid_more_than_memory(needed)
            return {key: archive[key] for key in keys}


def _checked_size(archive: zipfile.ZipFile, key: str) -> int:
    """The bytes of an array, which must be those that its shape says: numpy makes room for the shape at once."""
    member = archive.getinfo(f"{key}.npy")
    if member.compress_type not in PACKED:
        raise ValueError(f"{key} is compressed in another way than by numpy")
    with archive.open(member) as file:
        shape, _, kind = read_header(file, VERSIONS)
        begun = file.tell()
    if kind.hasobject:
        raise ValueError("pickled objects")
    if min(shape, default=0) < 0 or begun + array_bytes(shape, kind) != member.file_size:
        raise ValueError(f"{key} has the shape {shape} and other bytes than that needs")
    return member.file_size


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
