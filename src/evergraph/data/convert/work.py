"""The folder in which a conversion works, beside its output, and what killed conversions have left there."""

import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from evergraph import locks
from evergraph.errors import StoreError

LOCK, MACHINE = "lock", "machine"
"""Files in a work folder: the lock of its process, and the machine on which that runs."""
DIGITS = 12
"""Of the random part of its name."""


@contextmanager
def work_folder(out: Path) -> Iterator[Path]:
    """A new folder beside `out` that goes at the end; a lock says that its process lives.

    It gets the name by which `remove_left_over` finds it when the lock is held.
    """
    work = out.parent / f".{out.name}.{uuid4().hex[:DIGITS]}"
    fresh = work.with_name(f"{work.name}.new")
    fresh.mkdir()
    try:
        (fresh / MACHINE).write_text(platform.node())
        with locks.locked(fresh / LOCK):
            fresh.rename(work)
            try:
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def remove_left_over(out: Path) -> None:
    """Remove work folders of conversions to `out` that were killed on this machine: nobody holds their locks."""
    if not locks.WORK:
        return
    name = re.compile(rf"\.{re.escape(out.name)}\.[0-9a-f]{{{DIGITS}}}")
    for folder in [path for path in out.parent.iterdir() if name.fullmatch(path.name)]:
        with suppress(OSError, StoreError):
            if folder.is_symlink() or not (folder / LOCK).is_file():
                continue
            if (folder / MACHINE).read_text() == platform.node():
                with locks.locked(folder / LOCK):
                    shutil.rmtree(folder, ignore_errors=True)
