"""Graph folders from a real server and from fsspec's memory: the same bits, and nothing half-done."""

import os
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import fsspec
import numpy as np
import pytest

from evergraph.data.datasets import DatasetConfig, load_dataset, source_digest
from evergraph.data.graph_folder import MANIFEST, check_folder, read_manifest
from evergraph.data.remote import fetching, storage
from evergraph.data.remote.cached import PARTIAL, cached_graphs, clear
from evergraph.data.remote.fetching import fetched
from evergraph.data.remote.place import Place, graph_place
from evergraph.errors import ConfigError, DataError, StoreError
from served import Server, fetching_process, make_graph_folder


def assert_same_files(found: Path, wanted: Path) -> None:
    names = sorted(path.name for path in wanted.iterdir())
    assert sorted(path.name for path in found.iterdir()) == names
    for name in names:
        assert (found / name).read_bytes() == (wanted / name).read_bytes()


@pytest.mark.parametrize("ranges", [False, True])
def test_a_folder_comes_once_and_is_the_same(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch, ranges: bool
) -> None:
    monkeypatch.setattr(storage, "CHUNK", 500)
    server.ranges = ranges
    address = f"{server.address}/graph/"
    path, checksum = fetched(address)
    assert_same_files(path, folder)
    assert (path.name, checksum) == ("graph", read_manifest(folder).checksum)
    asked = len(server.asked)
    assert fetched(address) == (path, checksum)
    assert [line.split()[0] for line in server.asked[asked:]] == [f"/graph/{MANIFEST}"]
    asked = len(server.asked)
    assert Place(Path("elsewhere"), address, checksum).here() == path
    assert len(server.asked) == asked  # what is known to be wanted and is here is not asked for
    check_folder(path)


def test_a_data_set_is_that_of_the_local_folder(folder: Path, server: Server) -> None:
    local, remote = load_dataset(f"{folder}/"), load_dataset(f"{server.address}/graph/")
    assert (local.adjacency != remote.adjacency).nnz == 0
    np.testing.assert_array_equal(np.asarray(local.features), np.asarray(remote.features))
    assert (local.name, local.remarks) == (remote.name, remote.remarks)


def test_the_source_of_a_run_needs_the_manifest_alone(folder: Path, server: Server) -> None:
    found = source_digest(DatasetConfig(name=f"{server.address}/graph/"))
    assert found == source_digest(DatasetConfig(name=f"{folder}/"))
    assert {line.split()[0] for line in server.asked} == {f"/graph/{MANIFEST}"}
    assert source_digest(DatasetConfig(name=f"{server.address}/none/")) is None


def test_a_file_address_is_a_path_and_is_not_copied(folder: Path, cache: Path) -> None:
    assert graph_place(f"file://{folder}/").path == folder
    config = DatasetConfig(name=f"file://{folder}/")
    assert source_digest(config) == source_digest(DatasetConfig(name=f"{folder}/"))
    assert load_dataset(f"file://{folder}/").name == "graph"
    assert not cache.exists()


def test_any_file_system_of_fsspec_will_do(folder: Path, tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    for path in folder.iterdir():
        memory.pipe_file(f"/remote/graph/{path.name}", path.read_bytes())
    try:
        assert_same_files(fetched("memory://remote/graph")[0], folder)
        with zipfile.ZipFile(tmp_path / "graph.zip", "w") as archive:
            for path in folder.iterdir():
                archive.write(path, f"inner/{path.name}")
        assert_same_files(fetched(f"zip://inner::file://{tmp_path}/graph.zip")[0], folder)
    finally:
        memory.rm("/remote", recursive=True)


@pytest.mark.parametrize("ranges", [False, True])
def test_a_broken_copy_goes_on_where_it_stopped(
    folder: Path, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch, ranges: bool
) -> None:
    monkeypatch.setattr(storage, "CHUNK", 100)
    server.ranges, server.cut = ranges, None
    manifest = read_manifest(folder)
    checked = fetching._manifest_text

    def then_cut(remote: storage.RemoteFolder) -> bytes:
        text = checked(remote)
        server.cut = 60
        return text

    monkeypatch.setattr(fetching, "_manifest_text", then_cut)
    with pytest.raises(DataError, match=r"cannot be read: .*; try again later"):
        fetched(f"{server.address}/graph")
    (partial,) = cache.glob(f"graphs/*/{PARTIAL}")
    assert [path for path in cache.glob("graphs/*/*") if path.name == "graph"] == []
    (graph,) = cached_graphs()
    assert (graph.complete, graph.nodes) == (False, manifest.nodes)
    first = next(iter(manifest.files))
    whole = (folder / first).read_bytes()
    (partial / first).write_bytes(whole[:150])  # as if more had come
    monkeypatch.setattr(fetching, "_manifest_text", checked)
    server.cut = None
    server.asked.clear()
    path, _ = fetched(f"{server.address}/graph")
    assert_same_files(path, folder)
    if ranges:
        (asked, *_) = [line for line in server.asked if first in line]
        assert "bytes=150-" in asked
    assert not partial.exists()


def test_a_damaged_part_is_copied_anew(
    folder: Path, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = read_manifest(folder)
    monkeypatch.setattr(fetching, "_bring", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        fetched(f"{server.address}/graph")
    monkeypatch.undo()
    os.environ["EVERGRAPH_CACHE"] = str(cache)
    (partial,) = cache.glob(f"graphs/*/{PARTIAL}")
    (partial / "labels.npy").write_bytes(b"x" * manifest.files["labels.npy"].size)
    (partial / "indptr.npy").write_bytes(b"x" * 10**5)
    assert_same_files(fetched(f"{server.address}/graph")[0], folder)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda old: old[:-1] + b"!", r"/labels.npy must be as it was written \(512 bytes\), got other bytes"),
        (lambda old: old[:-5], r"got 507 bytes instead"),
        (lambda old: old + b"more", r"got more bytes instead"),
    ],
)
def test_an_altered_file_is_refused(
    folder: Path, server: Server, cache: Path, change: "type[bytes]", sentence: str
) -> None:
    labels = folder / "labels.npy"
    labels.write_bytes(change(labels.read_bytes()))
    with pytest.raises(DataError, match=sentence):
        fetched(f"{server.address}/graph")
    assert list(cache.glob("graphs/*/graph")) == []


def test_a_folder_that_changes_meanwhile_is_refused(
    folder: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_graph_folder(tmp_path / "other", n=60)
    begun = fetching._bring

    def changing(*given: object, **named: bool) -> None:
        for path in other.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        begun(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(fetching, "_bring", changing)
    with pytest.raises(DataError, match="must stay as it is while it is read"):
        fetched(f"{server.address}/graph")
    with pytest.raises(DataError, match="must stay as it is while it is read"):
        fetched(f"{server.address}/graph", "0" * 64)


def test_what_is_no_graph_folder_is_refused(folder: Path, server: Server) -> None:
    with pytest.raises(DataError, match=rf"a graph folder is wanted, got {server.address} without graph.json"):
        fetched(server.address)
    (folder / MANIFEST).write_text("{}")
    with pytest.raises(DataError, match=r"/graph/graph.json must be as it was written"):
        fetched(f"{server.address}/graph")
    with pytest.raises(DataError, match="cannot be read: "):
        fetched("http://127.0.0.1:9/graph")
    with pytest.raises(ConfigError, match="an address that fsspec knows is wanted, got nothing://x/y"):
        fetched("nothing://x/y")


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(address: str, **_: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(ConfigError, match=r"needs a package for its protocol, .*Install s3fs"):
        fetched("s3://bucket/graph")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ConfigError, match=r'pip install "evergraph\[remote\]"'):
        fetched("s3://bucket/graph")


def test_a_full_disk_is_noticed_first(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(StoreError, match=r"must take .* GB of http://.*, got 1e-06 GB of room; free some, or name"):
        fetched(f"{server.address}/graph")
    assert [line.split()[0] for line in server.asked] == [f"/graph/{MANIFEST}"]
    monkeypatch.undo()
    monkeypatch.setenv("EVERGRAPH_CACHE", "/dev/null/cache")
    with pytest.raises(StoreError, match="cannot be made"):
        fetched(f"{server.address}/graph")


def test_processes_wait_for_each_other_and_a_killed_one_harms_nothing(
    folder: Path, server: Server, cache: Path
) -> None:
    address, server.held = f"{server.address}/graph", "labels.npy"
    killed = fetching_process(address, cache)
    assert server.half_sent.wait(60)
    with pytest.raises(StoreError, match="another process is working on"):
        clear(cached_graphs())
    waiting = fetching_process(address, cache)
    waiting.join(0.5)
    assert waiting.is_alive()
    killed.kill()
    killed.join()
    waiting.join(60)
    assert waiting.exitcode == 0
    server.released.set()
    (found,) = cached_graphs()
    assert found.complete
    assert_same_files(found.folder, folder)
    clear(cached_graphs(f"{address}/"))
    assert list((cache / "graphs").iterdir()) == []
