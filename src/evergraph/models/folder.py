"""A model folder: written beside and swapped as a whole.

    model.json                                   the manifest; it alone decides which files count
    tensors-0123456789abcdef.safetensors         all tensors; the name has a part of the checksum
    schema-fedcba9876543210.json                 further files, as many as the model needs

Every file but the manifest has a name that follows from its content: a new model never touches a file of the old
one, and replacing the one file model.json swaps the whole. This holds on every file system; exchanging two folders
in one step does not. What a killed writer leaves is never named by the manifest; the next writer removes it.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from evergraph.errors import StoreError
from evergraph.files import make_folder, write_atomically
from evergraph.locks import locked
from evergraph.models.legacy import OLD_FILE, OLD_MANIFEST, read_old_model
from evergraph.models.manifest import MANIFEST, NAME, STORED, Manifest, StoredFile, parse_manifest
from evergraph.models.model import Model
from evergraph.models.tensors import NanIn, as_tensors, described, forbid_nan, tensor_bytes, tensors_from

if TYPE_CHECKING:
    from torch import Tensor

TENSORS = "tensors.safetensors"
LOCK = ".lock"
TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}")
"""What `write_atomically` calls a file that is not complete yet."""
MOST_MANIFEST_BYTES = 1 << 28
WAIT_SECONDS = 60.0
"""How long a writer waits for another one."""
ATTEMPTS = 20
"""How often a reader looks again when a writer replaced the model meanwhile."""


def _nowhere(name: str) -> bool:
    return False


def read_model(folder: str | Path, *, nan_in: NanIn = _nowhere) -> Model:
    """The model in a folder, as it was written, or StoreError in one sentence; nothing in the folder changes.

    nan_in: whether NaN means something in the tensor of this name; it is refused in all others.
    """
    path = Path(folder)
    if not path.is_dir():
        raise StoreError(f"the folder of a stored model is wanted, got {path} instead, which is none")
    if not any(os.path.lexists(path / name) for name in (MANIFEST, OLD_MANIFEST)):
        raise StoreError(f"the folder of a stored model is wanted, got {path} instead, which has no {MANIFEST}")
    try:
        model = _read_current(path) if os.path.lexists(path / MANIFEST) else read_old_model(path)
        forbid_nan(model.tensors, nan_in, path)
    except MemoryError:
        raise StoreError(f"{path} must hold a model that fits into memory, got a larger one instead") from None
    return model


def read_checksum(folder: str | Path) -> str:
    """The checksum of the model in a folder by its manifest alone; "" for folders of versions 1 and 2."""
    path = Path(folder)
    if not os.path.lexists(path / MANIFEST):
        if os.path.lexists(path / OLD_MANIFEST):
            return ""
        raise StoreError(f"the folder of a stored model is wanted, got {path} instead, which holds none")
    try:
        return parse_manifest(_content(path, MANIFEST)).checksum
    except StoreError as error:
        raise StoreError(f"{path / MANIFEST} must be as it was written: {error}") from None


def write_model(
    folder: str | Path,
    manifest: Mapping[str, Any],
    tensors: "Mapping[str, Tensor | NDArray[Any]]",
    extra_files: Mapping[str, bytes] | None = None,
    *,
    nan_in: NanIn = _nowhere,
    timeout: float = WAIT_SECONDS,
) -> str:
    """Store a model in the place of the one that is there, if any; the checksum of what was stored.

    The folder holds the old or the new model at every moment. Another writer is waited for, for `timeout` seconds.
    """
    with locked_model(folder, timeout=timeout) as place:
        return place.write(manifest, tensors, extra_files, nan_in=nan_in)


@contextmanager
def locked_model(folder: str | Path, *, timeout: float = WAIT_SECONDS) -> "Iterator[ModelFolder]":
    """A model folder that no other process writes to meanwhile, for reading, learning and writing as one step.

    The folder is made where there is none, and goes again where nothing was stored in it.
    """
    path = Path(folder)
    fresh = not path.exists()
    make_folder(path, "folder")
    try:
        with locked(path / LOCK, timeout, keep=False):
            make_folder(path, "folder")  # another writer that failed may have removed it
            yield ModelFolder(path)
    finally:
        if fresh:
            with suppress(OSError):  # it holds a model now
                path.rmdir()


class ModelFolder:
    """A folder whose lock this process has; see `locked_model`."""

    def __init__(self, path: Path):
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether a model is there."""
        return any(os.path.lexists(self.path / name) for name in (MANIFEST, OLD_MANIFEST))

    def read(self, *, nan_in: NanIn = _nowhere) -> Model:
        return read_model(self.path, nan_in=nan_in)

    def write(
        self,
        manifest: Mapping[str, Any],
        tensors: "Mapping[str, Tensor | NDArray[Any]]",
        extra_files: Mapping[str, bytes] | None = None,
        *,
        nan_in: NanIn = _nowhere,
    ) -> str:
        """Replace the model; what fails leaves the old one and nothing else."""
        known = as_tensors(tensors)
        forbid_nan(known, nan_in, "a model")
        contents = {TENSORS: tensor_bytes(known), **_checked_files(extra_files or {})}
        files = {name: StoredFile.of(name, content) for name, content in contents.items()}
        about = Manifest(dict(manifest), described(known), tuple(files.values()))
        text = about.to_text()
        _forbid_foreign(self.path)
        self._remove_all_but(_current_files(self.path))
        try:
            for name, file in files.items():
                write_atomically(self.path / file.stored, contents[name])
            _sync(self.path)
            write_atomically(self.path / MANIFEST, text)
            _sync(self.path)
        finally:
            self._remove_all_but(_current_files(self.path))
        return about.checksum

    def _remove_all_but(self, kept: frozenset[str] | None) -> None:
        """Remove files that the manifest does not name; nothing where it cannot be read."""
        if kept is None:
            return
        for name in _names(self.path):
            if name not in kept and any(kind.fullmatch(name) for kind in (STORED, TEMPORARY, OLD_FILE)):
                with suppress(OSError):
                    (self.path / name).unlink()


def _checked_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    for name, content in files.items():
        if not NAME.fullmatch(name) or name in (TENSORS, MANIFEST, OLD_MANIFEST) or not isinstance(content, bytes):
            raise StoreError(f"plain names and bytes are wanted for the files of a model, got {name!r} instead")
    return dict(files)


def _current_files(folder: Path) -> frozenset[str] | None:
    """The names that count now; None where the manifest is unreadable, and so nobody can tell."""
    try:
        if os.path.lexists(folder / MANIFEST):
            about = parse_manifest(_content(folder, MANIFEST))
            return frozenset([MANIFEST, *(file.stored for file in about.files)])
        if os.path.lexists(folder / OLD_MANIFEST):
            return frozenset(name for name in _names(folder) if OLD_FILE.fullmatch(name))
    except StoreError:
        return None
    return frozenset()


def _read_current(folder: Path) -> Model:
    """Read the folder; once more where a writer replaced the model meanwhile and removed the old files."""
    for _ in range(ATTEMPTS):
        text = _content(folder, MANIFEST)
        try:
            return _read_named(folder, text)
        except StoreError:
            if _content(folder, MANIFEST) == text:
                raise
    raise StoreError(f"{folder} must stay as it is while it is read, got new models all the time instead")


def _read_named(folder: Path, text: bytes) -> Model:
    try:
        about = parse_manifest(text)
    except StoreError as error:
        raise StoreError(f"{folder / MANIFEST} must be as it was written: {error}") from None
    _forbid_foreign(folder)
    contents = {file.name: _checked(folder, file) for file in about.files}
    if TENSORS not in contents:
        raise StoreError(f"{folder / MANIFEST} must name {TENSORS}, got none instead")
    try:
        tensors = tensors_from(contents.pop(TENSORS))
    except StoreError as error:
        raise StoreError(f"{folder} must hold a model as it was written: {error}") from None
    if described(tensors) != about.tensors:
        raise StoreError(f"{folder} must hold the tensors that {MANIFEST} describes, got others instead")
    return Model(about.content, tensors, contents, about.checksum)


def _checked(folder: Path, file: StoredFile) -> bytes:
    """The content of a file, of the size and with the checksum that the manifest says."""
    content = _content(folder, file.stored, file.size)
    if StoredFile.of(file.name, content) != file:
        raise StoreError(
            f"{folder / file.stored} must be as it was written, got other bytes instead; take another copy"
        )
    return content


def _content(folder: Path, name: str, size: int | None = None) -> bytes:
    """The bytes of a regular file in the folder itself; nothing is read where its size is another one."""
    path = folder / name
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise StoreError(f"{path} must be a file, got something else instead")
            if found.st_size > MOST_MANIFEST_BYTES if size is None else found.st_size != size:
                wanted = f"at most {MOST_MANIFEST_BYTES:,}" if size is None else f"{size:,}"
                raise StoreError(
                    f"{path} must have {wanted} bytes, got {found.st_size:,} instead; take another copy"
                )
            return file.read()
    except OSError as error:
        link = " (a link is not followed)" if path.is_symlink() else ""
        raise StoreError(f"{path} cannot be read: {error.strerror or error}{link}") from None


def _forbid_foreign(folder: Path) -> None:
    """StoreError where the folder holds what no writer of models makes; hidden files are let alone."""
    for name in _names(folder):
        ours = name == MANIFEST or STORED.fullmatch(name) or OLD_FILE.fullmatch(name)
        if not ours and not name.startswith("."):
            raise StoreError(f"{folder} must hold a model and nothing else, got {name!r} beside it; move that away")


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error.strerror or error}") from None


def _sync(folder: Path) -> None:
    """Make the names in a folder survive a power failure, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
