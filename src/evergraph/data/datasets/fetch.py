"""Finding the files of a data set: in the user's folders first, then in the cache, then upstream."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO
from uuid import uuid4

from evergraph.data.cache import cache_dir
from evergraph.data.datasets.arrays import BROKEN
from evergraph.data.datasets.entry import Locate, RemoteFile
from evergraph.errors import DataError
from evergraph.files import follow_umask, write_atomically
from evergraph.limits import Refused
from evergraph.parsing import read_json

DATA_VARIABLE = "EVERGRAPH_DATA"
LEAST_ROOM = 1 << 28
"""Bytes that a download leaves free on the disk."""


def locator(data_dir: str | Path | None = None, *, download: bool = True, progress: bool = False) -> Locate:
    """A function from a file to its path on this disk, which downloads it where that is allowed and needed."""
    given = None if data_dir is None else Path(data_dir)
    if given is not None and not given.is_dir():
        raise DataError(f"the data folder must exist, got {given} instead; create it or name another one")

    def locate(file: RemoteFile) -> Path:
        for folder in _folders(given):
            if (folder / file.name).exists():
                return folder / file.name
        return _downloaded(file, given, download=download, progress=progress)

    return locate


def _folders(data_dir: Path | None) -> Iterator[Path]:
    if data_dir is not None:
        yield data_dir
    if os.environ.get(DATA_VARIABLE):
        yield Path(os.environ[DATA_VARIABLE])
    yield cache_dir()


def _downloaded(file: RemoteFile, data_dir: Path | None, *, download: bool, progress: bool) -> Path:
    """The file from the cache of downloads, fetched if necessary; its hash is checked every time."""
    import pooch

    if file.url is None:
        raise DataError(_missing(file, data_dir, "it has no address to be downloaded from"))
    store = cache_dir() / "downloads"
    target = store / PurePosixPath(file.url).name
    if not download and not target.exists():
        raise DataError(_missing(file, data_dir, f"downloading it from {file.url} is switched off"))
    recorded = _recorded_hashes(store)
    known = file.sha256 or recorded.get(file.url)
    if download:
        _retrieve(file, target, known, data_dir, progress=progress)
    found = str(pooch.file_hash(str(target), alg="sha256"))
    if known is not None and found != known:
        raise DataError(f"{target} must have the sha256 {known}, got {found} instead; delete it and fetch it again")
    if known is None:
        hashes = json.dumps({**recorded, file.url: found}, indent=1, sort_keys=True)
        write_atomically(store / "hashes.json", hashes)
    return target if file.inside is None else _extracted(target, found, file)


def _retrieve(file: RemoteFile, target: Path, known: str | None, data_dir: Path | None, *, progress: bool) -> None:
    """Let pooch download the file unless it is there with the known hash."""
    import pooch
    import requests

    from evergraph.data.datasets.progress import DownloadBar

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    bar = DownloadBar(target.name) if progress else None
    try:
        pooch.retrieve(
            file.url,
            known_hash=known and f"sha256:{known}",
            fname=target.name,
            path=target.parent,
            downloader=_bounded(pooch.HTTPDownloader(progressbar=bar or False, timeout=60)),
        )
        follow_umask(target)
    except OSError as error:
        unanswered = isinstance(error, requests.RequestException) and error.response is None
        reason = "no connection" if unanswered else str(error)
        raise DataError(_missing(file, data_dir, f"downloading it from {file.url} failed ({reason})")) from None
    except ValueError as error:
        raise DataError(
            f"the download from {file.url} must have the sha256 {known}, got another file instead ({error}); "
            f"if upstream changed it on purpose, remove its line from {target.parent / 'hashes.json'}"
        ) from None
    finally:
        logger.setLevel(level)
        if bar is not None:
            bar.close()


class _Bounded:
    """A file that takes no more bytes than there is room for on its disk, so that a server cannot fill it."""

    def __init__(self, file: IO[bytes], most: int):
        self.file, self.left = file, most

    def write(self, part: bytes) -> None:
        self.left -= len(part)
        if self.left < 0:
            raise OSError("it is larger than the room on the disk")
        self.file.write(part)

    def flush(self) -> None:
        self.file.flush()


def _bounded(downloader: Callable[..., object]) -> Callable[..., None]:
    def download(url: str, output: str, asking: object) -> None:
        most = shutil.disk_usage(Path(output).parent).free - LEAST_ROOM
        with open(output, "wb") as file:
            downloader(url, _Bounded(file, most), asking)

    return download


def _missing(file: RemoteFile, data_dir: Path | None, why: str) -> str:
    folder = data_dir or os.environ.get(DATA_VARIABLE)
    place = f"at {Path(folder) / file.name}" if folder else f"into a folder and name that in {DATA_VARIABLE}"
    return f"the file {file.name} is needed, got no such file instead, and {why}; put it {place}"


def _recorded_hashes(store: Path) -> dict[str, str]:
    path = store / "hashes.json"
    try:
        return {str(url): str(value) for url, value in read_json(path, inside=True).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError):
        raise DataError(
            f"{path} must hold the recorded hashes as JSON, got something else instead; delete it to record anew"
        ) from None


def _extracted(archive: Path, sha256: str, file: RemoteFile) -> Path:
    """The member of a zip archive, unpacked beside it once per content and in one step."""
    folder = archive.with_name(f"{archive.name}-{sha256[:16]}")
    if not folder.exists():
        scratch = archive.with_name(f".{archive.name}.{uuid4().hex[:12]}")
        try:
            scratch.mkdir()
            with zipfile.ZipFile(archive) as members:
                _forbid_bomb(members, archive)
                members.extractall(scratch)  # which keeps every path inside and makes no links
            os.replace(scratch, folder)
        except BROKEN as error:
            shutil.rmtree(scratch, ignore_errors=True)
            if not folder.exists():
                raise DataError(f"{archive} must be a zip archive, got a broken one instead ({error})") from None
    member = folder / str(file.inside)
    if not member.exists():
        raise DataError(f"the archive {file.url} must hold {file.inside}, got none instead; report the change")
    return member


def _forbid_bomb(members: zipfile.ZipFile, archive: Path) -> None:
    """Refused where what is unpacked does not fit on the disk; the sizes hold, because no more is ever unpacked."""
    needed, free = sum(info.file_size for info in members.infolist()), shutil.disk_usage(archive.parent).free
    if needed > free:
        raise Refused(f"{needed:,} bytes of room on the disk are wanted to unpack it, got {free:,}")
