"""Writing files as a whole or not at all, and folders for results."""

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from evergraph.errors import StoreError


def write_atomically(path: Path, content: str | bytes | Callable[[Path], object]) -> None:
    """Write a file that is there as a whole or, when the process dies meanwhile, as it was before.

    content: text, bytes, or a function that writes the file at the path it is given. StoreError in one sentence
    where it cannot be written; whatever goes wrong, nothing half-written stays.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}")  # other machines may share the folder
    try:
        if callable(content):
            content(temporary)
        else:
            temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # it has become the file, or was never there
            temporary.unlink()


def write_output(path: Path, content: str | bytes | Callable[[Path], object]) -> None:
    """Write a file that a person has named: a link stays and what it points to is written, a device gets the bytes.

    See `write_atomically`, which puts a new file in the place of whatever is there.
    """
    if not path.exists() or path.is_file() or path.is_dir():
        write_atomically(Path(os.path.realpath(path)), content)
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / path.name
            write_atomically(made, content)
            with path.open("wb") as device:
                device.write(made.read_bytes())
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from None


def follow_umask(path: Path) -> None:
    """Give a file that another library made the permissions that a new file has here."""
    probe = path.with_name(f".{path.name}.{uuid4().hex[:12]}")
    with suppress(OSError):
        probe.touch()
        path.chmod(stat.S_IMODE(probe.stat().st_mode))
    with suppress(OSError):
        probe.unlink()


def make_folder(out: Path, option: str = "--out") -> None:
    """Make a folder for results unless it is there; StoreError in one sentence where that cannot be done."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {out} cannot be made: {error.strerror}; choose another {option}") from None
