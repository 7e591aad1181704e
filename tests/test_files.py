"""Files are written as a whole or not at all, and what cannot be written is one sentence."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evergraph.errors import StoreError
from evergraph.files import follow_umask, make_folder, write_atomically, write_output


def writes_three(path: Path) -> None:
    path.write_bytes(b"th")
    with path.open("ab") as file:
        file.write(b"ree")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("grün\n", "grün\n".encode()),
        ("", b""),
        (b"\x00\xff\r\n", b"\x00\xff\r\n"),
        (writes_three, b"three"),
    ],
    ids=["text", "empty", "bytes", "function"],
)
@pytest.mark.parametrize("before", [None, b"old, and longer than what comes"])
def test_text_bytes_and_what_a_function_writes(
    tmp_path: Path, content: str | bytes | Callable[[Path], object], expected: bytes, before: bytes | None
) -> None:
    path = tmp_path / "a.json"
    if before is not None:
        path.write_bytes(before)
    write_atomically(path, content)
    assert path.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with path.open() as reader:

        def write(temporary: Path) -> None:
            assert temporary.parent == tmp_path  # a file of another file system could not be moved in one step
            temporary.write_text("new")
            assert path.read_text() == "old"

        write_atomically(path, write)
        assert reader.read() == "old"
    assert path.read_text() == "new"


def half(error: BaseException) -> Callable[[Path], object]:
    """Writes the half of a file and fails."""

    def write(path: Path) -> None:
        path.write_text("ha")
        raise error

    return write


@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), OSError("odd")], ids=str)
def test_a_disk_that_fails_is_one_sentence(tmp_path: Path, error: OSError, before: str | None) -> None:
    path = tmp_path / "a.json"
    if before is not None:
        path.write_text(before)
    with pytest.raises(StoreError, match=f"a.json cannot be written: {error.strerror or error}$") as caught:
        write_atomically(path, half(error))
    assert "\n" not in str(caught.value)
    assert [(one, one.read_text()) for one in tmp_path.iterdir()] == ([] if before is None else [(path, before)])


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyboardInterrupt()], ids=repr)
def test_any_other_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(type(error)):
        write_atomically(path, half(error))
    assert [(one, one.read_text()) for one in tmp_path.iterdir()] == [(path, "old")]


@pytest.mark.parametrize("step", ["os.fsync", "Path.replace"])
def test_a_failure_after_the_writing_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "a.json"
    path.write_text("old")
    monkeypatch.setattr(f"evergraph.files.{step}", fail)
    with pytest.raises(StoreError, match=r"a.json cannot be written: Input/output error"):
        write_atomically(path, "new")
    assert [(one, one.read_text()) for one in tmp_path.iterdir()] == [(path, "old")]


def test_the_content_is_on_disk_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    replace = Path.replace

    def replacing(one: Path, other: Path) -> Path:
        steps.append("replace")
        return replace(one, other)

    monkeypatch.setattr("evergraph.files.os.fsync", lambda _: steps.append("fsync"))
    monkeypatch.setattr(Path, "replace", replacing)
    write_atomically(tmp_path / "a.json", "new")
    assert steps == ["fsync", "replace"]


def test_places_where_nothing_can_be_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / place for place in ("file/a.json", "none/a.json", "folder", "a" * 300)):
        with pytest.raises(StoreError, match="cannot be written: ") as caught:
            write_atomically(path, "new")
        assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0)
    yield os.umask
    os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="permissions are as on POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o002])
def test_the_umask_is_respected(tmp_path: Path, mask: int, umask: Callable[[int], int]) -> None:
    umask(mask)
    for name, content in (("text", "x"), ("bytes", b"x")):
        write_atomically(tmp_path / name, content)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o666 & ~mask


def test_a_folder_is_made_with_those_above_it_and_left_alone_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_folder(folder)
    (folder / "x").touch()
    make_folder(folder)
    assert (folder / "x").exists()


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_one_sentence_that_names_the_option(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be made: .*; choose another --write$") as caught:
        make_folder(tmp_path / place, "--write")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="permissions are as on POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o002])
def test_a_file_of_another_library_gets_the_permissions_of_a_new_one(
    tmp_path: Path, mask: int, umask: Callable[[int], int]
) -> None:
    umask(mask)
    path = tmp_path / "private"
    path.touch(mode=0o600)
    follow_umask(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [path]


def test_an_output_follows_links_and_keeps_devices(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    link.symlink_to(real)
    for content in ("first", "second"):
        write_output(link, content)
        assert link.is_symlink()
        assert real.read_text() == content
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        got = pool.submit(pipe.read_bytes)
        write_output(pipe, lambda place: place.write_bytes(b"through"))
        assert got.result(timeout=10) == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
def test_a_full_device_is_one_sentence_and_stays_one() -> None:
    with pytest.raises(StoreError, match="/dev/full cannot be written: No space left"):
        write_output(Path("/dev/full"), "content")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
