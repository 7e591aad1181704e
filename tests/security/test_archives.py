"""Archives of arrays that lie, explode, hold code or lead elsewhere."""

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.data.datasets.arrays import read_arrays
from evergraph.data.datasets.derived import _kept
from evergraph.data.datasets.entry import RemoteFile
from evergraph.data.datasets.fetch import _Bounded, _extracted
from evergraph.data.datasets.ogb import _table
from evergraph.errors import DataError
from helpers import one_sentence

Within = Callable[[int], AbstractContextManager[None]]
MB = 1 << 20


def npy(header: bytes, body: bytes = b"") -> bytes:
    """An array file with this header, whatever it says."""
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def said(shape: object, descr: object = "<f4") -> bytes:
    return repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()


def archive(path: Path, content: bytes, name: str = "x.npy", packed: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packed) as made:
        made.writestr(name, content)
    return path


class Code:
    """What pickle would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("taken"),))


HOSTILE = {
    "a shape of terabytes": npy(said((10**12, 4))),
    "a shape beyond 64 bits": npy(said((2**40, 2**40))),
    "a shape that wraps to nothing": npy(said((2**62, 4)), b"0" * 16),
    "a negative shape": npy(said((-1, 4)), b"0" * 16),
    "more bytes than the shape": npy(said((2,)), b"0" * 16),
    "fewer bytes than the shape": npy(said((8,)), b"0" * 16),
    "objects": npy(said((1,), "|O"), b"cos\nsystem\n(S'id'\ntR."),
    "a record with objects": npy(said((1,), [("a", "|O")]), b"\x80\x04N."),
    "a huge type": npy(said((1,), [("a", "<f4", (10**9,))])),
    "a header of brackets": npy(b"(" * 5000),
    "a header of minus signs": npy(b"-" * 4000 + b"1"),
    "a header that is code": npy(b"__import__('os').system('touch taken')"),
    "a header without end": b"\x93NUMPY\x01\x00\xff\xff",
    "an unknown version": b"\x93NUMPY\x09\x00" + b"0" * 80,
    "no array": b"not an array",
    "nothing": b"",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_an_array_that_is_not_what_it_says_is_refused(tmp_path: Path, case: str, within: Within) -> None:
    path = archive(tmp_path / "graph.npz", HOSTILE[case])
    with within(4 * MB), pytest.raises(DataError) as caught:
        read_arrays(path, ["x"])
    one_sentence(caught.value)
    assert not Path("taken").exists()


def test_pickled_objects_are_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "graph.npz", x=np.array([Code()], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="pickled objects"):
        read_arrays(tmp_path / "graph.npz", ["x"])
    assert not Path("taken").exists()


def test_an_archive_that_explodes_is_refused_before_it_does(
    tmp_path: Path, little_memory: int, within: Within
) -> None:
    size = little_memory * 2
    path = archive(tmp_path / "graph.npz", npy(said((size // 4,)), bytes(size)))
    assert path.stat().st_size < size / 500
    with within(4 * MB), pytest.raises(DataError, match="must fit into memory") as caught:
        read_arrays(path, ["x"])
    one_sentence(caught.value)


def test_an_honest_archive_is_read(tmp_path: Path, little_memory: int) -> None:
    values = np.zeros((little_memory // 16, 1), dtype=np.float32)  # a quarter of memory, and hardly a byte on disk
    np.savez_compressed(tmp_path / "graph.npz", x=values)
    assert read_arrays(tmp_path / "graph.npz", ["x"])["x"].shape == values.shape


def test_a_member_that_is_no_array_file_is_no_array(tmp_path: Path) -> None:
    """numpy gives the bytes of such a member as they are."""
    assert read_arrays(archive(tmp_path / "graph.npz", b"text", name="x"), ["x"]) == {}


@pytest.mark.parametrize("packed", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_ways_of_packing_are_refused(tmp_path: Path, packed: int) -> None:
    content = io.BytesIO()
    np.save(content, np.zeros(3))
    with pytest.raises(DataError, match="another way than by numpy"):
        read_arrays(archive(tmp_path / "graph.npz", content.getvalue(), packed=packed), ["x"])


def test_a_single_array_of_terabytes_is_refused(tmp_path: Path, within: Within) -> None:
    (tmp_path / "graph.npz").write_bytes(npy(said((10**12, 4)), b"0" * 64))
    with within(4 * MB), pytest.raises(DataError) as caught:
        read_arrays(tmp_path / "graph.npz", ["x"])
    one_sentence(caught.value)


@pytest.mark.parametrize("content", [b"", b"junk", npy(said((10**12, 3))), npy(said((1,), "|O")), npy(b"(" * 5000)])
def test_a_cache_that_was_tampered_with_is_not_used(tmp_path: Path, content: bytes, within: Within) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with within(4 * MB):
        assert _kept(tmp_path / "a.npy", (4, 3)) is None


# gzip


def test_a_gzip_file_that_explodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evergraph.data.datasets.ogb.free_memory", lambda: MB)
    with gzip.open(tmp_path / "edge.csv.gz", "wb", 1) as file:
        file.write(b"1,2\n" * (MB // 4))
    with pytest.raises(DataError, match="for the memory that is free") as caught:
        _table(tmp_path / "edge.csv.gz", np.int64, (10**12, 2))
    one_sentence(caught.value)


def test_no_more_rows_are_read_than_were_promised(tmp_path: Path, within: Within) -> None:
    with gzip.open(tmp_path / "num-node-list.csv.gz", "wb", 1) as file:
        file.write(b"1\n" * (MB // 2))
    with within(4 * MB), pytest.raises(DataError, match="must hold 1 rows of 1 numbers, got 2"):
        _table(tmp_path / "num-node-list.csv.gz", np.int64, (1, 1))


# zip archives that are unpacked


def unpacked(path: Path) -> Path:
    return _extracted(path, "0" * 64, RemoteFile("raw", "https://example.org/a.zip", inside="raw"))


@pytest.mark.parametrize("name", ["../taken", "/taken", "raw/../../taken", "..\\taken", "raw/a/../../../taken"])
def test_no_member_leaves_the_folder(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "deep" / "deeper"
    inner.mkdir(parents=True)
    path = inner / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("raw/good", "good")
        made.writestr(name, "bad")
    folder = unpacked(path)
    assert (folder / "good").read_text() == "good"
    outside = [one for one in tmp_path.rglob("*taken*") if folder.parent not in one.parents]
    assert outside == []
    assert not Path("/taken").exists()


def test_a_link_in_an_archive_is_no_link(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        link = zipfile.ZipInfo("raw")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc")
    assert not unpacked(path).is_symlink()


def test_what_does_not_fit_on_the_disk_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "a.zip", bytes(10 * MB), name="raw/zeros")
    usage = type("Usage", (), {"free": 5 * MB})
    monkeypatch.setattr("evergraph.data.datasets.fetch.shutil.disk_usage", lambda _: usage)
    with pytest.raises(DataError, match="bytes of room on the disk are wanted"):
        unpacked(path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]


def test_an_archive_with_a_password_is_one_sentence(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", b"x", name="raw/a", packed=zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="must be a zip archive"):
        unpacked(path)


def test_a_download_without_end_stops_where_the_disk_does() -> None:
    file = io.BytesIO()
    bounded = _Bounded(file, 10)
    bounded.write(b"0123456789")
    with pytest.raises(OSError, match="larger than the room"):
        bounded.write(b"0")
    assert file.getvalue() == b"0123456789"
