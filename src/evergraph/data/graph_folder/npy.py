"""Plain .npy files: written in parts, opened as memory maps, with nothing believed that was not checked."""

import math
import os
import stat
from collections.abc import Collection
from io import BufferedReader, BytesIO
from pathlib import Path
from tokenize import TokenError
from types import TracebackType
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from evergraph.errors import DataError

HEADER_BYTES = 128
"""Of every header, so that it can be written when the length is known."""
MOST_HEADER_BYTES = 4096
Header: TypeAlias = tuple[tuple[int, ...], bool, np.dtype[Any]]


class NpyWriter:
    """A file of rows of one type, whose number is known only at the end."""

    def __init__(self, path: Path, dtype: DTypeLike, width: int | None = None):
        self.dtype, self.width, self.rows = np.dtype(dtype), width, 0
        self._file = path.open("xb")
        self._file.write(bytes(HEADER_BYTES))

    def append(self, values: NDArray[Any]) -> None:
        """Add rows at the end."""
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        self.rows += len(values)

    def __enter__(self) -> "NpyWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            if error is None:
                shape = (self.rows,) if self.width is None else (self.rows, self.width)
                self._file.seek(0)
                self._file.write(_header(self.dtype, shape))
                self._file.flush()
                os.fsync(self._file.fileno())


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """A header of version 1.0, filled up with blanks to HEADER_BYTES."""
    text = BytesIO()
    npy.write_array_header_1_0(text, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})
    words = text.getvalue()[npy.MAGIC_LEN + 2 :].rstrip()
    body = words + b" " * (HEADER_BYTES - npy.MAGIC_LEN - 2 - len(words) - 1) + b"\n"
    return bytes(npy.magic(1, 0)) + len(body).to_bytes(2, "little") + body


def opened(folder: Path, name: str) -> BufferedReader:
    """A regular file in the folder itself; a link or anything else is refused."""
    path = folder / name
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        link = " (a link is not followed)" if path.is_symlink() else ""
        raise DataError(f"{path} cannot be read: {error.strerror or error}{link}; take another copy") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DataError(f"{path} must be a file, got something else instead; take another copy")
    return open(path, "rb", opener=lambda *_: descriptor)  # a memory map of it then knows its path


def read_header(file: IO[bytes], versions: Collection[tuple[int, int]] = ((1, 0),)) -> Header:
    """Shape, order and type of the array that begins here; ValueError where no header of these versions does."""
    try:
        version = npy.read_magic(file)
        if version not in versions:
            raise ValueError(f"version {version}")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        header: Header = read(file, max_header_size=MOST_HEADER_BYTES)
    except (SyntaxError, TypeError, EOFError, OverflowError, RecursionError, MemoryError, TokenError) as error:
        raise ValueError(str(error)) from None
    return header


def array_bytes(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """Bytes of an array; whole numbers of any size, because a false shape may have a product beyond 64 bits."""
    return math.prod(int(side) for side in shape) * kind.itemsize


def mapped(folder: Path, name: str, dtype: str, shape: tuple[int, ...], size: int) -> NDArray[Any]:
    """The array in a file as a memory map that cannot be written to, of this type, shape and number of bytes."""
    path = folder / name
    with opened(folder, name) as file:
        found = os.fstat(file.fileno()).st_size
        if found != size:
            raise DataError(f"{path} must have {size:,} bytes, got {found:,} instead; take another copy")
        try:
            came, fortran, kind = read_header(file)
        except ValueError as error:
            why = " ".join(str(error).split())[:80]
            raise DataError(f"{path} must be an array (.npy), got something else instead ({why})") from None
        if kind.hasobject or kind.str != dtype or fortran or came != shape:
            raise DataError(
                f"{path} must hold {dtype} of shape {shape}, got {kind.str} of shape {came} instead; "
                "take another copy"
            )
        offset = file.tell()
        count = array_bytes(shape, kind)
        if offset + count != size:
            raise DataError(
                f"{path} must have as many bytes as its shape {shape} needs, got {size:,} instead; "
                "take another copy"
            )
        if not count:
            return np.zeros(shape, dtype=kind)
        return np.memmap(file, dtype=kind, mode="r", offset=offset, shape=shape)
