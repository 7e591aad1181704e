"""A model folder holds the old or the new model, whatever happens; what is no model is refused in one sentence."""

import errno
import json
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from evergraph.errors import StoreError
from evergraph.models import locked_model, read_checksum, read_model, write_model
from evergraph.models.manifest import Manifest, StoredFile, checksum
from models.writers import adding, answered, as_nobody, limited, numbered, saving, started

ABOUT = {"kind": "test", "classes": ["ä", "b"], "share": 0.1, "nested": {"deep": [1, None, True]}}
TENSORS = {"weight": torch.arange(6.0).reshape(2, 3), "ids": torch.tensor([3, 1, 2]), "none": torch.zeros(0, 4)}
EXTRA = {"schema.json": b'{"a": 1}', "notes.txt": b""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "model", ABOUT, TENSORS, EXTRA)
    return tmp_path / "model"


def refused(folder: Path) -> str:
    with pytest.raises(StoreError) as caught:
        read_model(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700
    return str(caught.value)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# round trips


def test_what_is_written_is_read(folder: Path) -> None:
    model = read_model(folder)
    assert (model.manifest, model.files, model.version) == (ABOUT, EXTRA, 3)
    assert model.tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert torch.equal(model.tensors[name], tensor)
        assert model.tensors[name].dtype == tensor.dtype


PLAIN = st.none() | st.booleans() | st.integers() | st.text()
NAMES = st.from_regex(r"[a-z0-9]{1,8}\.[a-z]{1,4}", fullmatch=True)
DTYPES = ("float32", "float64", "bfloat16", "float16", "int8", "uint8", "int64", "bool")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=12),
        st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(0, 4), max_size=3)),
        max_size=4,
    ),
    st.dictionaries(st.text(), st.recursive(PLAIN, st.lists), max_size=4),
    st.dictionaries(NAMES, st.binary(max_size=20), max_size=3),
)
def test_any_tensors_values_and_files_survive(
    tmp_path: Path,
    shapes: dict[str, tuple[str, list[int]]],
    about: dict[str, Any],
    extra: dict[str, bytes],
) -> None:
    tensors = {
        name: torch.arange(int(np.prod(shape)), dtype=torch.float64).reshape(shape).to(getattr(torch, dtype))
        for name, (dtype, shape) in shapes.items()
        if name != "__metadata__"
    }
    given_checksum = write_model(tmp_path / "model", about, tensors, extra)
    model = read_model(tmp_path / "model")
    assert (model.manifest, model.files, model.checksum) == (about, extra, given_checksum)
    assert all(torch.equal(model.tensors[name], tensor) for name, tensor in tensors.items())


def test_arrays_are_tensors_too(tmp_path: Path) -> None:
    write_model(tmp_path, {}, {"a": np.arange(4, dtype=np.int16), "b": np.zeros((0, 2), dtype=np.float32)})
    assert torch.equal(read_model(tmp_path).tensors["a"], torch.arange(4, dtype=torch.int16))


def test_the_same_model_has_the_same_bytes_and_checksum(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    assert write_model(folder, ABOUT, TENSORS, EXTRA) == read_model(folder).checksum
    assert contents(folder) == before
    assert write_model(folder, {**ABOUT, "share": 0.2}, TENSORS, EXTRA) != read_model_checksum(before, tmp_path)


def read_model_checksum(files: dict[str, bytes], tmp_path: Path) -> str:
    (tmp_path / "copy").mkdir()
    for name, content in files.items():
        (tmp_path / "copy" / name).write_bytes(content)
    return read_model(tmp_path / "copy").checksum


def test_a_folder_can_be_copied_and_moved(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    shutil.rmtree(folder)
    assert read_model(tmp_path / "copy").manifest == ABOUT


def test_only_the_files_of_the_model_stay(folder: Path) -> None:
    write_model(folder, {}, {}, {"other.bin": b"x"})
    assert sorted(name.partition("-")[0] for name in contents(folder)) == ["model.json", "other", "tensors"]


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o002])
def test_files_and_folder_follow_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_model(tmp_path / "model", ABOUT, TENSORS, EXTRA)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o777 & ~mask
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "model").iterdir()} == {0o666 & ~mask}


@pytest.mark.parametrize(
    ("about", "tensors", "extra", "says"),
    [
        ({}, {"a": torch.tensor([float("nan")])}, {}, "NaN"),
        ({}, {"a": torch.zeros(2, 2).to_sparse()}, {}, "dense"),
        ({}, {"a": torch.zeros(2, dtype=torch.complex64)}, {}, "complex64"),
        ({}, {"a": [1, 2]}, {}, "got list"),
        ({}, {"__metadata__": torch.zeros(1)}, {}, "__metadata__"),
        ({}, {"a": np.array(["x"])}, {}, "numbers"),
        ({"a": float("inf")}, {}, {}, "plain values"),
        ({"a": {1, 2}}, {}, {}, "plain values"),
        ({}, {}, {"../a": b""}, "plain names"),
        ({}, {}, {"Upper": b""}, "plain names"),
        ({}, {}, {"tensors.safetensors": b""}, "plain names"),
        ({}, {}, {"a.txt": "text"}, "plain names and bytes"),
    ],
    ids=str,
)
def test_what_cannot_be_stored_is_one_sentence_and_leaves_the_old_model(
    folder: Path, about: Any, tensors: Any, extra: Any, says: str
) -> None:
    before = contents(folder)
    with pytest.raises(StoreError, match=says) as caught:
        write_model(folder, about, tensors, extra)
    assert "\n" not in str(caught.value)
    assert contents(folder) == before


def test_nan_is_stored_where_it_means_something(tmp_path: Path) -> None:
    tensors = {"keys": torch.tensor([float("nan"), 1.0])}
    write_model(tmp_path, {}, tensors, nan_in=lambda name: name == "keys")
    assert read_model(tmp_path, nan_in=lambda name: name == "keys").tensors["keys"].isnan().tolist() == [
        True,
        False,
    ]
    assert "NaN" in refused(tmp_path)


# malformed and hostile folders


def forged(folder: Path, **changes: Any) -> None:
    """A manifest with other values and a checksum that fits them, as an attacker would write it."""
    path = folder / "model.json"
    values = {**json.loads(path.read_text()), **changes}
    del values["sha256"]
    path.write_text(json.dumps({**values, "sha256": checksum(values)}))


def forged_tensors(folder: Path, content: bytes, shapes: dict[str, list[Any]] | None = None) -> None:
    file = StoredFile.of("tensors.safetensors", content)
    shapes = {"a": ["float32", 1]} if shapes is None else shapes
    for path in folder.iterdir():
        path.unlink()
    (folder / file.stored).write_bytes(content)
    (folder / "model.json").write_text(Manifest({}, shapes, (file,)).to_text())


def tensors_of(folder: Path) -> Path:
    (path,) = folder.glob("tensors-*")
    return path


def linked(folder: Path, name: str) -> None:
    (path,) = folder.glob(name)
    path.rename(folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")


def header(text: str, size: int | None = None) -> bytes:
    content = text.encode()
    return (len(content) if size is None else size).to_bytes(8, "little") + content + bytes(4)


def becomes(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Something else in the place of a file."""

    def damage(folder: Path) -> None:
        (path,) = folder.glob(name)
        path.unlink()
        make(path)

    return damage


def with_file(name: str, **about: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        files = json.loads((folder / "model.json").read_text())["files"]
        forged(folder, files={**files, name: {"sha256": "0" * 64, "bytes": 0, **about}})

    return damage


def text(content: str | bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / "model.json").write_bytes(content if isinstance(content, bytes) else content.encode())

    return damage


def edited(old: str, new: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / "model.json"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))

    return damage


def forging(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: forged(folder, **changes)


def tensor_file(content: bytes, shapes: dict[str, list[Any]] | None = None) -> Callable[[Path], None]:
    return lambda folder: forged_tensors(folder, content, shapes)


ONE = save({"a": torch.ones(1)})
HOSTILE: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda folder: (folder / "model.json").unlink(),
    "manifest is a folder": becomes("model.json", Path.mkdir),
    "manifest is a link": lambda folder: linked(folder, "model.json"),
    "manifest is a pipe": becomes("model.json", os.mkfifo),
    "manifest is a link to nothing": becomes("model.json", lambda path: path.symlink_to("nothing")),
    "manifest without text": text(""),
    "manifest of zeros": text(bytes(100)),
    "manifest not UTF-8": text(b"\xff\xfe{}"),
    "manifest a list": text("[]"),
    "manifest a number": text("3"),
    "manifest a text": text('"evergraph-model"'),
    "manifest null": text("null"),
    "manifest empty": text("{}"),
    "manifest NaN": text('{"format": NaN}'),
    "manifest deep list": text("[" * 200_000),
    "manifest deep, closed": text("[" * 50_000 + "]" * 50_000),
    "manifest deep table": text('{"a":' * 50_000 + "1" + "}" * 50_000),
    "manifest with a huge number": text('{"format": ' + "9" * 10_000 + "}"),
    "manifest with a repeated key": edited('"version": 3', '"version": 3, "version": 3'),
    "manifest with more after it": lambda folder: text((folder / "model.json").read_text() + "{}")(folder),
    "manifest cut": lambda folder: text((folder / "model.json").read_text()[:-20])(folder),
    "content edited": edited('"test"', '"rest"'),
    "a checksum edited": edited('"sha256": "', '"sha256": "0'),
    "a size edited": edited('"bytes": 8', '"bytes": 9'),
    "a shape edited": edited('"float32"', '"float64"'),
    "its own checksum missing": edited('"sha256"', '"sha257"'),
    "another format": forging(format="pickle"),
    "no format": edited('"format"', '"Format"'),
    "version 4": forging(version=4),
    "version 0": forging(version=0),
    "version true": forging(version=True),
    "version text": forging(version="3"),
    "version float": forging(version=3.0),
    "a key beside the others": forging(code="import os"),
    "content a list": forging(content=[]),
    "tensors a list": forging(tensors=[]),
    "files a list": forging(files=[]),
    "no files": forging(files={}),
    "shape a number": forging(tensors={"weight": 3}),
    "shape empty": forging(tensors={"weight": []}),
    "shape negative": forging(tensors={"weight": ["float32", -1]}),
    "shape true": forging(tensors={"weight": ["float32", True]}),
    "shape huge": forging(tensors={"weight": ["float32", 2**70]}),
    "shape without a type": forging(tensors={"weight": [2, 3]}),
    "other tensors": forging(tensors={"weight": ["float32", 2, 3]}),
    "a file above": with_file("../model.json"),
    "a file far above": with_file("../../../etc/passwd"),
    "an absolute file": with_file("/etc/passwd"),
    "a file below": with_file("a/b"),
    "a file with a backslash": with_file("a\\b"),
    "a file of a drive": with_file("c:a"),
    "a file with NUL": with_file("a\x00b"),
    "a file without a name": with_file(""),
    "a hidden file": with_file(".lock"),
    "a file with a long name": with_file("a" * 500),
    "a file with a new line": with_file("a\nb"),
    "a file that is missing": with_file("b.txt"),
    "a file of a huge size": with_file("schema.json", bytes=2**62),
    "a file of negative size": with_file("b.txt", bytes=-1),
    "a file of size true": with_file("b.txt", bytes=True),
    "a file with a short checksum": with_file("b.txt", sha256="00"),
    "a file with a checksum that leads out": with_file("b.txt", sha256="../" + "0" * 61),
    "a file with no checksum": with_file("b.txt", sha256=None),
    "tensors missing": lambda folder: tensors_of(folder).unlink(),
    "tensors a link": lambda folder: linked(folder, "tensors-*"),
    "tensors a folder": becomes("tensors-*", Path.mkdir),
    "tensors a pipe": becomes("tensors-*", os.mkfifo),
    "tensors empty": lambda folder: tensors_of(folder).write_bytes(b""),
    "tensors cut": lambda folder: os.truncate(tensors_of(folder), 40),
    "tensors longer": lambda folder: tensors_of(folder).write_bytes(tensors_of(folder).read_bytes() + b"\0"),
    "tensors huge": lambda folder: os.truncate(tensors_of(folder), 2**40),
    "tensors of another model": lambda folder: tensors_of(folder).write_bytes(
        save({**TENSORS, "weight": torch.ones(2, 3)})
    ),
    "a file of another model": lambda folder: next(folder.glob("schema-*")).write_bytes(b'{"a": 2}'),
    "a pickle as tensors": tensor_file(b"\x80\x04cos\nsystem\n(S'true'\ntR."),
    "tensors with a huge header": tensor_file(header("{}", 2**63)),
    "tensors with a header of its own size": tensor_file(header("{}", 10**6)),
    "tensors with a broken header": tensor_file(header("{]")),
    "tensors with a deep header": tensor_file(header("[" * 50_000)),
    "tensors out of the file": tensor_file(header('{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}')),
    "tensors over each other": tensor_file(
        header(
            '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        )
    ),
    "tensors of an unknown type": tensor_file(header('{"a":{"dtype":"X9","shape":[1],"data_offsets":[0,4]}}')),
    "tensors of a huge shape": tensor_file(
        header('{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}')
    ),
    "tensors of another type": tensor_file(ONE, {"a": ["float64", 1]}),
    "tensors of another shape": tensor_file(ONE, {"a": ["float32", 1, 1]}),
    "tensors of another name": tensor_file(ONE, {"b": ["float32", 1]}),
    "one tensor too few": tensor_file(ONE, {"a": ["float32", 1], "b": ["float32", 1]}),
    "one tensor too many": tensor_file(ONE, {}),
    "NaN in a tensor": tensor_file(save({"a": torch.tensor([float("nan")])})),
    "a file beside": lambda folder: (folder / "notes.md").write_text("mine"),
    "code beside": lambda folder: (folder / "__init__.py").write_text(""),
    "a folder beside": lambda folder: (folder / "runs").mkdir(),
    "a link beside": lambda folder: (folder / "link").symlink_to("/etc"),
    "a pickle beside": lambda folder: (folder / "model.pkl").write_bytes(b"\x80\x04."),
}


@pytest.mark.parametrize("damage", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_malformed_or_hostile_folder_is_refused_in_one_sentence(
    folder: Path, damage: Callable[[Path], object]
) -> None:
    damage(folder)
    before = sorted(os.listdir(folder))
    refused(folder)
    assert sorted(os.listdir(folder)) == before


def test_there_are_many_of_them() -> None:
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("place", ["nothing", "file"])
def test_what_is_no_folder_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    assert "which is none" in refused(tmp_path / place)


def test_hidden_files_of_the_system_and_leftovers_are_harmless(folder: Path) -> None:
    for name in (".DS_Store", ".nfs0001", ".model.json.0123456789ab", "tensors-0123456789abcdef.safetensors"):
        (folder / name).write_bytes(b"half")
    assert read_model(folder).manifest == ABOUT
    write_model(folder, ABOUT, TENSORS, EXTRA)
    assert sorted(name for name in os.listdir(folder) if name.startswith(".")) == [".DS_Store", ".nfs0001"]
    assert not (folder / "tensors-0123456789abcdef.safetensors").exists()


def test_nothing_is_written_beside_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match=r"a model and nothing else, got 'thesis.tex' beside it"):
        write_model(tmp_path, ABOUT, TENSORS)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_broken_model_can_be_replaced(folder: Path) -> None:
    (folder / "model.json").write_text("{")
    write_model(folder, ABOUT, TENSORS)
    assert read_model(folder).manifest == ABOUT
    assert len(os.listdir(folder)) == 2


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_flipped_bit_or_a_cut_is_refused_or_harmless(folder: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(os.listdir(folder))))
    path = folder / name
    before = path.read_bytes()
    if before and data.draw(st.booleans()):
        at, bit = data.draw(st.integers(0, len(before) - 1)), data.draw(st.integers(0, 7))
        path.write_bytes(before[:at] + bytes([before[at] ^ (1 << bit)]) + before[at + 1 :])
    else:
        path.write_bytes(before[: data.draw(st.integers(0, len(before)))])
    with suppress(StoreError):
        model = read_model(folder)
        assert (model.manifest, model.files) == (ABOUT, EXTRA)
        assert all(torch.equal(model.tensors[name], tensor) for name, tensor in TENSORS.items())
    path.write_bytes(before)


# writers, readers, disks


def number_of(folder: Path) -> int:
    """The number of a model that is whole."""
    model = read_model(folder)
    number = int(model.manifest["number"])
    about, tensors, extra = numbered(number)
    assert (model.manifest, model.files) == (about, extra)
    assert all(torch.equal(model.tensors[name], tensor) for name, tensor in tensors.items())
    return number


def test_a_hundred_kills_each_leave_a_model_that_was_saved(tmp_path: Path) -> None:
    rng, folder = Random(13), tmp_path / "model"
    write_model(folder, *numbered(0))
    number, left = 0, 0
    for _ in range(100):
        process = started(saving, folder, number + 1)
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        left += len(os.listdir(folder)) != 3
        found = number_of(folder)
        assert found > number
        number = found
    assert left > 10  # many of the kills came in the midst of writing
    write_model(folder, *numbered(number))
    assert len(os.listdir(folder)) == 3


def test_readers_see_whole_models_while_another_process_writes(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_model(folder, *numbered(0))
    process = started(saving, folder, 1)
    try:
        seen: list[int] = []
        while len(seen) < 300 or seen[-1] == 0:
            seen.append(number_of(folder))
    finally:
        process.kill()
        process.join()
    assert seen == sorted(seen)


def test_of_several_processes_that_learn_into_one_model_nothing_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_model(folder, *numbered(0))
    processes = [started(adding, folder, 15) for _ in range(3)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert number_of(folder) == 45


def test_a_writer_waits_for_another_one_or_is_refused(folder: Path) -> None:
    with locked_model(folder):
        with pytest.raises(StoreError, match=r"another process is working on .*model; wait for it or stop it"):
            write_model(folder, {}, {}, timeout=0.1)
        assert read_model(folder).manifest == ABOUT
        waiting = Thread(target=write_model, args=(folder, {"late": 1}, {}))
        waiting.start()
        time.sleep(0.1)
        assert waiting.is_alive()
    waiting.join(10)
    assert read_model(folder).manifest == {"late": 1}
    assert ".lock" not in os.listdir(folder)


def test_a_new_folder_goes_again_where_nothing_was_stored(tmp_path: Path) -> None:
    with locked_model(tmp_path / "model") as place:
        assert not place.exists
        assert (tmp_path / "model").is_dir()
    assert os.listdir(tmp_path) == []


STEPS = ("fsync", "replace", "write")


@pytest.fixture(params=[(step, after) for step in STEPS for after in range(3)], ids=lambda p: f"{p[0]} {p[1]}")
def full_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the disk full after a number of steps of one kind."""
    step, after = request.param
    name = {"fsync": "os.fsync", "replace": "Path.replace", "write": "Path.write_bytes"}[step]
    real: Any = {"fsync": os.fsync, "replace": Path.replace, "write": Path.write_bytes}[step]
    done: list[object] = []

    def failing(*arguments: Any) -> Any:
        done.append(arguments)
        if len(done) > after:
            if step == "write":
                real(arguments[0], arguments[1][:3])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments)

    return lambda: monkeypatch.setattr(f"evergraph.files.{name}", failing)


def test_a_full_disk_is_one_sentence_and_leaves_the_old_model_alone(
    folder: Path, full_disk: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evergraph.models.folder._sync", lambda folder: None)
    before = contents(folder)
    full_disk()
    with pytest.raises(StoreError, match="cannot be written: No space left on device") as caught:
        write_model(folder, *numbered(1))
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert contents(folder) == before


def test_a_full_disk_leaves_no_new_folder(
    tmp_path: Path, full_disk: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evergraph.models.folder._sync", lambda folder: None)
    full_disk()
    with pytest.raises(StoreError, match="No space left on device"):
        write_model(tmp_path / "model", *numbered(1))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("most", [100, 3000, 5000])
def test_a_file_that_cannot_be_written_whole_leaves_the_old_model(folder: Path, most: int) -> None:
    """The system itself stops the writing in the middle of a file."""
    before = contents(folder)
    assert "cannot be written: File too large" in answered(limited, folder, most)
    assert contents(folder) == before


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Path]:
    """A folder that every user may enter."""
    place = Path("/tmp") / f"evergraph-test-{os.getpid()}"
    place.mkdir(mode=0o755)
    yield place
    shutil.rmtree(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; the next test is for the others")
def test_a_read_only_folder_is_read_but_not_written(public: Path) -> None:
    write_model(public / "model", ABOUT, TENSORS)
    before = contents(public / "model")
    said, manifest = answered(as_nobody, public / "model")
    assert "cannot be written: Permission denied" in said
    assert manifest == ABOUT
    assert contents(public / "model") == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the test before is for root")
def test_ones_own_read_only_folder_is_read_but_not_written(folder: Path) -> None:
    folder.chmod(0o555)
    try:
        with pytest.raises(StoreError, match="cannot be written: Permission denied"):
            write_model(folder, {}, {})
        assert read_model(folder).manifest == ABOUT
    finally:
        folder.chmod(0o755)


def test_the_checksum_alone(folder: Path, tmp_path: Path) -> None:
    assert read_checksum(folder) == read_model(folder).checksum
    for place in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(StoreError, match="the folder of a stored model is wanted"):
            read_checksum(place)
    (folder / "model.json").write_text("{}", encoding="utf-8")
    with pytest.raises(StoreError, match="must be as it was written"):
        read_checksum(folder)
