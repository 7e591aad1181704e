"""Bringing a graph folder from an address to the cache: each file compared with its checksum while it is copied."""

import hashlib
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from evergraph.data.cache import CACHE_VARIABLE
from evergraph.data.graph_folder.manifest import MANIFEST, ArrayFile, GraphManifest, parse_manifest
from evergraph.data.graph_folder.reading import MOST_MANIFEST_BYTES
from evergraph.data.remote.address import checked
from evergraph.data.remote.cached import Entry
from evergraph.data.remote.storage import CHUNK, RemoteFolder
from evergraph.errors import DataError, StoreError
from evergraph.files import make_folder, write_atomically
from evergraph.locks import locked

LOG = logging.getLogger(__name__)
Advance = Callable[[int], object]


def fetched(address: str, checksum: str | None = None, *, progress: bool = False) -> tuple[Path, str]:
    """The graph folder of an address on this disk, and the checksum of its manifest.

    checksum: that of the content that is wanted, if any will not do; where it is here, nothing is asked of the
    address. A copy that was interrupted goes on where it stopped.
    """
    address = checked(address)
    if checksum is not None and Entry.of(address, checksum).folder.is_dir():
        return Entry.of(address, checksum).folder, checksum
    remote = RemoteFolder(address)
    text = _manifest_text(remote)
    manifest = _parsed(remote, text)
    if checksum not in (None, manifest.checksum):
        raise DataError(_changed(remote))
    entry = Entry.of(address, manifest.checksum)
    if not entry.folder.is_dir():
        make_folder(entry.root, CACHE_VARIABLE)
        with locked(entry.lock, float("inf"), keep=False):
            if not entry.folder.is_dir():  # else another process has brought it meanwhile
                make_folder(entry.partial, CACHE_VARIABLE)
                _bring(remote, manifest, text, entry, progress=progress)
    return entry.folder, manifest.checksum


def manifest_text(address: str) -> bytes:
    """The manifest at an address as it is now."""
    return _manifest_text(RemoteFolder(address))


def _manifest_text(remote: RemoteFolder) -> bytes:
    remote.refresh()
    text = remote.read(MANIFEST, MOST_MANIFEST_BYTES)
    if len(text) > MOST_MANIFEST_BYTES:
        raise DataError(
            f"{remote.address}/{MANIFEST} must have at most {MOST_MANIFEST_BYTES:,} bytes, got more instead"
        )
    return text


def _parsed(remote: RemoteFolder, text: bytes) -> GraphManifest:
    try:
        return parse_manifest(text)
    except DataError as error:
        raise DataError(f"{remote.address}/{MANIFEST} must be as it was written: {error}") from None


def _bring(remote: RemoteFolder, manifest: GraphManifest, text: bytes, entry: Entry, *, progress: bool) -> None:
    """All files of a folder to the cache, where it appears as a whole."""
    from evergraph.data.datasets.progress import DownloadBar

    entry.describe(remote.address, manifest)
    total = sum(file.size for file in manifest.files.values())
    here = sum(_size(entry.partial / name) for name in manifest.files)
    _forbid_full_disk(remote, entry, total - here)
    LOG.warning("%s: %.3g GB go to %s", remote.address, (total - here) / 1e9, entry.folder)
    bar = DownloadBar(entry.name) if progress else None
    try:
        if bar is not None:
            bar.total = total
        for name, file in manifest.files.items():
            _copy(remote, name, file, entry, bar.update if bar is not None else lambda size: None)
        write_atomically(entry.partial / MANIFEST, text)
        os.replace(entry.partial, entry.folder)
    except OSError as error:
        raise StoreError(
            f"{entry.root} must take {total / 1e9:.3g} GB of {remote.address}, got: {error.strerror or error}; "
            f"free some room, or name another folder in {CACHE_VARIABLE}"
        ) from None
    finally:
        if bar is not None:
            bar.close()


def _copy(remote: RemoteFolder, name: str, file: ArrayFile, entry: Entry, advance: Advance) -> None:
    """A file, from where an interrupted copy of it ends; DataError where it is not what the manifest says."""
    path = entry.partial / name
    begun = _size(path) > 0
    size, found = _copied(remote, name, file.size, path, advance)
    if begun and (size, found) != (file.size, file.sha256):  # the part that was here may be to blame
        path.unlink()
        size, found = _copied(remote, name, file.size, path, advance)
    if (size, found) == (file.size, file.sha256):
        return
    path.unlink()
    if _parsed(remote, _manifest_text(remote)).files.get(name) != file:
        raise DataError(_changed(remote))
    came = "other bytes" if size == file.size else "more bytes" if size > file.size else f"{size:,} bytes"
    raise DataError(
        f"{remote.address}/{name} must be as it was written ({file.size:,} bytes), got {came} instead; put another "
        "copy there"
    )


def _copied(remote: RemoteFolder, name: str, most: int, path: Path, advance: Advance) -> tuple[int, str]:
    """Add what is missing to a file, at most so many bytes in all: its size, more where more came, and SHA-256."""
    digest = hashlib.sha256()
    with path.open("ab+") as target:
        if target.tell() > most:  # of no use
            target.truncate(0)
        target.seek(0)
        while chunk := target.read(CHUNK):
            digest.update(chunk)
            advance(len(chunk))
        size = target.tell()
        for chunk in remote.chunks(name, size) if size < most else ():
            size += len(chunk)
            if size > most:
                break
            target.write(chunk)
            digest.update(chunk)
            advance(len(chunk))
        target.flush()
        os.fsync(target.fileno())
    return size, digest.hexdigest()


def _changed(remote: RemoteFolder) -> str:
    return f"{remote.address} must stay as it is while it is read, got another graph meanwhile; start again"


def _forbid_full_disk(remote: RemoteFolder, entry: Entry, size: int) -> None:
    free = shutil.disk_usage(entry.root).free
    if free < size:
        raise StoreError(
            f"{entry.root} must take {size / 1e9:.3g} GB of {remote.address}, got {free / 1e9:.3g} GB of room; "
            f"free some, or name another folder in {CACHE_VARIABLE}"
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
