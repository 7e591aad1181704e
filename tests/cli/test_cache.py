"""Commands on an address: every one that takes a graph folder takes it, and the cache can be seen and cleared."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from served import Server, make_graph_folder, served

from .conftest import Call


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path / "cache"))
    make_graph_folder(tmp_path / "upstream", n=120)
    with served(tmp_path / "upstream") as made:
        yield made


def test_every_command_takes_an_address(call: Call, server: Server, tmp_path: Path) -> None:
    address, folder = f"{server.address}/graph/", tmp_path / "upstream" / "graph"
    (tmp_path / "ids.txt").write_text("n3\nn7\n")
    found = []
    for name, data in (("local", f"{folder}/"), ("remote", address)):
        nodes = ["--model", f"model-{name}", "--nodes", data]
        run = [
            "run",
            "--dataset",
            data,
            "--method",
            "analytic",
            "--set",
            "method.width=32",
            "--out",
            f"runs-{name}",
        ]
        said = call(*run, "--json").json()
        answers = [{key: said[key] for key in ("aa_global", "aa_local", "dataset") if key in said}]
        answers.append(call("learn", *nodes, "--set", "method.width=32", "--json").json()["classes"])
        answers.append(call("forget", *nodes, "--ids", "ids.txt", "--json").json()["nodes"])
        assert call("predict", *nodes, "--out", f"{name}.csv").code == 0
        assert call("score", "--dataset", data, "--out", f"{name}-scores.csv").code == 0
        answers += [call("data", word, data, "--json").json() for word in ("info", "check")]
        answers[-1].pop("name")
        texts = [Path(f"{name}{end}.csv").read_text() for end in ("", "-scores")]
        found.append((answers, texts))
    assert found[0] == found[1]
    bytes_asked = [line for line in server.asked if line.startswith("/graph/indices.npy")]
    assert len(bytes_asked) == 1  # it was brought once
    again = call(*run, "--resume", "--json").json()
    assert again["run_dir"] == said["run_dir"]


def test_the_cache_is_seen_and_cleared(call: Call, server: Server, tmp_path: Path) -> None:
    address = f"{server.address}/graph"
    assert "no graph from an address is in" in call("data", "cache").out
    (folder,) = call("data", "fetch", address, "--json").json()["files"]
    answer = call("data", "cache", "--json").json()
    assert [(graph["address"], graph["folder"], graph["complete"]) for graph in answer["graphs"]] == [
        (address, folder, True)
    ]
    assert "120" in call("data", "cache").out
    assert call("data", "cache", "http://elsewhere/graph", "--json").json()["graphs"] == []
    assert call("data", "cache", f"{address}/", "--clear").out == "1 graph removed\n"
    assert not Path(folder).exists()


def test_bad_addresses_are_told_in_one_sentence(call: Call, server: Server) -> None:
    for words in (
        ["run", "--method", "analytic", "--dataset", f"{server.address}/none/"],
        ["learn", "--model", "model", "--nodes", f"{server.address}/none/"],
        ["data", "info", f"{server.address}/none/"],
    ):
        answer = call(*words)
        assert answer.code == 2
        assert f"a graph folder is wanted, got {server.address}/none without graph.json" in answer.err
    secret = f"http://ann:geheim@127.0.0.1:{server.server_port}/graph/"
    for words in (
        ["run", "--dataset", secret],
        ["learn", "--model", "model", "--nodes", secret],
        ["data", "cache", secret],
        ["data", "fetch", secret],
        ["run", "--dataset", secret, "--executor", "ray"],
    ):
        answer = call(*words)
        assert answer.code == 2
        assert "without password" in answer.err
        assert "geheim" not in answer.err + answer.out
    folder = [f"{server.address}/graph/", "--scratch"]
    answer = call("run", "--dataset", *folder, "memory://scratch")
    assert "--scratch must be a folder, got memory://scratch; addresses go with --executor ray" in answer.err
    answer = call(
        "run", "--method", "ncm", "--dataset", *folder, "ftp://ann:geheim@host/scratch", "--executor", "ray"
    )
    assert "without password" in answer.err
    assert "geheim" not in answer.err
    options = ["--set", "dataset.options.scale=false"]
    answer = call("data", "info", f"{server.address}/graph/", *options)
    assert "scale goes with tables, got it for the graph folder http://" in answer.err
