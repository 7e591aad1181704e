"""Settings, experiments and records that are deep, huge or no files: one sentence, exit code 2, little memory."""

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from evergraph.cli import BAD_INPUT, run_main
from evergraph.limits import DEEPEST, Refused, read_limited
from evergraph.parsing import parse_toml, strict_json

Within = Callable[[int], AbstractContextManager[None]]
MB = 1 << 20
DEEP = 100_000

JSON: dict[str, str | bytes] = {
    "deep lists": "[" * DEEP,
    "deep objects": '{"method":' * DEEP,
    "as deep as Python goes": '{"method":' + '{"a":' * 900 + "1" + "}" * 901,
    "one too deep": '{"method":' + "[" * DEEPEST + "]" * DEEPEST + "}",
    "a number of 5000 digits": '{"seeds": {"init": ' + "9" * 5000 + "}}",
    "NaN": '{"train": {"lr": NaN}}',
    "infinity": '{"train": {"lr": -Infinity}}',
    "a key twice": '{"method": {}, "method": {}}',
    "half of a character": r'{"dataset": {"name": "\ud800.npz"}}',
    "a zero byte in a path": r'{"dataset": {"name": "a\u0000b.npz"}}',
    "a zero byte in the path of nodes": r'{"dataset": {"name": "edges.csv", "options": {"nodes": "a\u0000b"}}}',
    "a name longer than any": '{"dataset": {"name": "' + "a" * 5000 + '.npz"}}',
    "text of another code": b"\xff\xfe{",
    "nothing": "",
}
TOML: dict[str, str | bytes] = {
    "deep lists": "name = " + "[" * DEEP,
    "deep tables": "name = " + "{a=" * DEEP,
    "a long dotted key": "base." + "a." * DEEP + "a = 1",
    "a long dotted key with blanks": "base . " + "a . " * DEEP + "a = 1",
    "a long dotted key in quotes": "base." + '"a".' * DEEP + "a = 1",
    "a long heading": "[base." + "a." * DEEP + "a]",
    "a number of 5000 digits": "name = " + "9" * 5000,
    "text of another code": b"\xff\xfe",
    "ten million runs": "[[grid]]\nseed = "
    + str(list(range(3200)))
    + '\n"train.epochs" = '
    + str(list(range(3200))),
    "runs without end": "[[grid]]\n" + "\n".join(f'"method.k{at}" = [1, 2, 3]' for at in range(400)),
}


def complaint(capfd: pytest.CaptureFixture[str]) -> str:
    error = capfd.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert "Traceback" not in error
    return error


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("case", JSON)
def test_json_settings(tmp_path: Path, capfd: pytest.CaptureFixture[str], case: str) -> None:
    path = written(tmp_path / "config.json", JSON[case])
    assert run_main(["run", "--config", str(path), "--out", str(tmp_path)]) == BAD_INPUT
    complaint(capfd)


@pytest.mark.parametrize("case", TOML)
def test_toml_experiments(tmp_path: Path, capfd: pytest.CaptureFixture[str], case: str) -> None:
    path = written(tmp_path / "experiment.toml", TOML[case])
    assert run_main(["bench", str(path), "--dry-run"]) == BAD_INPUT
    complaint(capfd)


def test_a_long_dotted_key_takes_no_memory(within: Within) -> None:
    """tomllib keeps all its beginnings: the square of its length."""
    with within(8 * MB), pytest.raises(Refused):
        parse_toml("a." * 50_000 + "a = 1")


@pytest.mark.parametrize(
    "text",
    ["x = [" + "0.1, " * 500 + "]", "a.b.c.d = 1", f'name = "{"a" * 100_000}"', 'x = ["a.b", "c.d"]'],
)
def test_honest_toml_is_read(text: str) -> None:
    assert parse_toml(text)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * DEEP, "{a=" * DEEP])
def test_set(value: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_main(["run", "--set", f"seeds.init={value}"]) == BAD_INPUT
    assert len(complaint(capfd)) < 500


def test_depth_is_counted_and_text_is_none() -> None:
    assert strict_json(b"[" * DEEPEST + b"]" * DEEPEST) is not None
    assert strict_json(b'"' + b"[" * DEEP + b'"') == "[" * DEEP
    assert strict_json(rb'"\ud83d\ude00"') == "\N{GRINNING FACE}"


@pytest.mark.parametrize("command", [["run", "--config"], ["bench"], ["report"]])
def test_a_device_that_never_ends(
    command: list[str], capfd: pytest.CaptureFixture[str], little_memory: int
) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("there is no /dev/zero here")
    assert run_main([*command, "/dev/zero"]) == BAD_INPUT
    assert "bytes are wanted, got more" in complaint(capfd)


def test_a_pipe_that_a_person_named_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"12345",))
    writer.start()
    assert read_limited(path, 5) == b"12345"
    writer.join()


def test_a_small_file_takes_little_memory_however_much_it_might_hold(tmp_path: Path, within: Within) -> None:
    path = written(tmp_path / "record.json", b"x" * (3 * MB + 7))
    with within(8 * MB):
        found = read_limited(path, 1 << 31)
    assert found == b"x" * (3 * MB + 7)
    with pytest.raises(Refused, match=r"at most 3,145,734 bytes are wanted, got more"):
        read_limited(path, 3 * MB + 6)


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "record.json")
    with pytest.raises(Refused, match="a plain file is wanted"):
        read_limited(tmp_path / "record.json", 5, inside=True)


def test_a_large_file_of_records(tmp_path: Path, capfd: pytest.CaptureFixture[str], little_memory: int) -> None:
    path = written(tmp_path / "records.json", b"[" + b"[]," * MB + b"[]]")
    assert run_main(["report", str(path), "--out", str(tmp_path / "page.html")]) == BAD_INPUT
    assert "bytes are wanted, got more" in complaint(capfd)
    assert [one.name for one in tmp_path.iterdir()] == ["records.json"]
