"""evergraph serve: a real server in a process of its own, and what it says when it cannot start."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from evergraph.estimator.classifier import ContinualClassifier
from evergraph.tables import Table, batch_from_tables

from .conftest import Call

pytest.importorskip("uvicorn", reason="the tests of the server need uvicorn")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("models") / "shop"
    nodes = {
        "id": np.arange(40),
        "size": np.random.default_rng(0).random(40) + 3 * (np.arange(40) % 2),
        "label": np.array(["plant", "animal"], dtype=object)[np.arange(40) % 2],
    }
    ContinualClassifier("ncm", holdout=0.0).partial_fit(batch_from_tables(Table("n", nodes), None)).save(folder)
    return folder


def started(model: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "evergraph", "serve", "--model", str(model), "--port", "0", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_example_in_the_help_is_a_command_line_that_works(call: Call, model: Path) -> None:
    answer = call("serve", "--help")
    words = shlex.split(re.findall(r"Example: (evergraph .*)$", " ".join(answer.out.split()))[0])
    assert words[:2] == ["evergraph", "serve"]
    given = dict(zip(words[2::2], words[3::2], strict=True))
    assert given == {"--model": "model", "--port": "8000"}
    assert call(*words[1:]).err.startswith("error: the folder of a stored model is wanted, got model instead")


def said(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


def asked(address: str, question: object, host: str | None = None) -> tuple[int, dict[str, object]]:
    headers = {"Content-Type": "application/json", **({"Host": host} if host else {})}
    wanted = urllib.request.Request(address + "predict", json.dumps(question).encode(), headers)
    try:
        with urllib.request.urlopen(wanted, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_server_starts_answers_and_stops(model: Path, end: signal.Signals) -> None:
    server = started(model, "--max-mb", "0.01")
    try:
        line = said(server.stdout)
        found = re.fullmatch(r"(http://127\.0\.0\.1:\d+/) serves shop: 2 classes, 1 batch; Ctrl-C stops it\n", line)
        assert found, (line, server.stderr.read() if server.stderr and server.poll() is not None else "")
        address = found[1]
        status, content = asked(address, {"nodes": [{"id": "a", "size": 3.5}, {"id": "b", "size": 0.5}]})
        assert status == 200
        predictions = content["predictions"]
        assert isinstance(predictions, list)
        assert [(entry["id"], entry["label"]) for entry in predictions] == [("a", "animal"), ("b", "plant")]
        status, content = asked(address, {"nodes": "x" * 20_000})
        told = "at most 0.01 MB are wanted, got more; ask for fewer nodes at a time"
        assert (status, content["error"]) == (413, told)
        assert asked(address, {"nodes": [{"id": 1}]})[0] == 422
        assert asked(address, {"nodes": []}, host="evil.example")[0] == 421
        with socket.create_connection(("127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))) as raw:
            raw.sendall(b"nonsense\r\n\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 400")
        server.send_signal(end)
        out, err = server.communicate(timeout=30)
    finally:
        server.kill()
        server.communicate()
    assert out == ""
    if end is signal.SIGINT:
        assert (server.returncode, err) == (0, "note: stopped\n")
    else:
        assert server.returncode in (0, -signal.SIGTERM)
        assert "Traceback" not in err


def test_a_server_for_others_says_so(model: Path) -> None:
    server = started(model, "--host", "0.0.0.0")
    try:
        assert said(server.stdout).startswith("http://0.0.0.0:")
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=30)
    finally:
        server.kill()
        server.communicate()
    assert err.splitlines()[0].startswith("note: whoever reaches this address can ask the model")


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(model: Path, missing: str) -> None:
    block = f"import sys; sys.modules[{missing!r}] = None; from evergraph.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", block, "serve", "--model", str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"error: evergraph serve needs fastapi and uvicorn, got an environment without {missing}; "
        "run pip install 'evergraph[serve]'\n"
    )


def test_help_imports_neither_torch_nor_the_server() -> None:
    look = (
        "import sys; from evergraph.cli import run_main; assert run_main(['serve', '--help']) == 0; "
        "print(sorted({'torch', 'numpy', 'fastapi', 'starlette', 'uvicorn', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_cannot_be_served_is_refused_in_a_sentence(call: Call, model: Path, tmp_path: Path) -> None:
    ContinualClassifier("ncm").save(tmp_path / "new")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for arguments, words in (
            (["--model", "nowhere"], "the folder of a stored model is wanted, got nowhere"),
            (["--model", tmp_path / "new"], "a model that has learned something is wanted"),
            (["--model", model, "--port", port], f"got 127.0.0.1 and {port} instead"),
            (["--model", model, "--host", "no.such.host.invalid"], "a host and a port that are free are wanted"),
            (["--model", model, "--host", "x" * 300], "a host and a port that are free are wanted"),
            (["--model", model, "--port", "70000"], "--port"),
            (["--model", model, "--max-mb", "0"], "--max-mb"),
            (["--model", model, "--timeout", "-1"], "--timeout"),
            ([], "--model"),
        ):
            answer = call("serve", *arguments)
            assert answer.code == 2, answer
            assert words in answer.err
            assert answer.err.count("\n") == 1
            assert answer.out == ""
    assert sorted(os.listdir(tmp_path)) == ["new"]
