"""Methods, backbones, scores and data sets from outside: a real second package, and a file on disk."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evergraph.backbones import BACKBONES
from evergraph.cli import run_main
from evergraph.errors import ConfigError, StoreError
from evergraph.estimator.classifier import ContinualClassifier
from evergraph.methods import METHODS
from evergraph.runs import plugins
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import find_run, run
from evergraph.runs.plugins import load_plugin
from helpers import tiny_graph

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "plugin_package"
QUICK = ["--epochs", "2", "--set", "train.threads=1"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the second package, from a copy of its sources."""
    folder = tmp_path_factory.mktemp("second")
    source, site = folder / "source", folder / "site"
    shutil.copytree(PACKAGE, source)
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(source)], check=True
    )
    return site


def with_site(site: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process that sees the second package."""
    path = os.pathsep.join([str(site), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def output(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("kind", "name"), [("methods", "shrink"), ("backbones", "mlp"), ("scores", "label-rank"), ("datasets", "rings")]
)
def test_an_installed_package_is_listed(site: Path, tmp_path: Path, kind: str, name: str) -> None:
    rows = output(with_site(site, "evergraph", "list", kind, "--json", cwd=tmp_path))[kind]
    (row,) = (row for row in rows if row["name"] == name)
    assert row["plugin"].startswith("shrinking-graphs 1.2, code ")
    assert all(other["plugin"] is None for other in rows if other["name"] != name)
    assert name not in (METHODS if kind == "methods" else BACKBONES)


def test_an_installed_method_stands_in_tables_beside_ours(site: Path, tmp_path: Path) -> None:
    command = ["evergraph", "run", "--dataset", "rings", "--backbone", "mlp", "--method", "finetune,shrink", *QUICK]
    done = with_site(site, *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "finetune" in done.stdout
    assert "shrink" in done.stdout
    report = with_site(site, "evergraph", "report", "runs", "--json", cwd=tmp_path)
    assert {row["method"] for row in output(report)["results"]} == {"finetune", "shrink"}
    record = json.loads(next(tmp_path.glob("runs/rings-shrink-*/record.json")).read_text())
    assert {"method shrink", "backbone mlp", "data set rings"} <= set(record["versions"])


def test_an_installed_method_is_run_in_grids(site: Path, tmp_path: Path) -> None:
    grid = 'name = "g"\n[base.train]\nepochs = 2\n[[grid]]\n"method.name" = ["shrink", "finetune"]\n'
    (tmp_path / "g.toml").write_text(grid, encoding="utf-8")
    found = output(with_site(site, "evergraph", "bench", "g.toml", "--jobs", "2", "--json", cwd=tmp_path))
    assert found["failed"] == {}
    assert len(found["done"]) == 2


def test_a_report_shows_a_method_that_is_not_installed_here(site: Path, tmp_path: Path) -> None:
    command = ["evergraph", "run", "--dataset", "digits", "--method", "shrink", *QUICK]
    assert with_site(site, *command, cwd=tmp_path).returncode == 0
    out = tmp_path / "page.html"
    assert run_main(["report", str(tmp_path / "runs"), "--out", str(out)]) == 0
    assert "shrink" in out.read_text(encoding="utf-8")


def test_the_second_package_passes_the_contracts(site: Path, tmp_path: Path) -> None:
    shutil.copy(PACKAGE / "test_shrinking.py", tmp_path)
    done = with_site(site, "pytest", "-q", "-p", "no:cacheprovider", "test_shrinking.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_a_package_that_cannot_be_loaded_breaks_nothing_but_itself(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(site, broken)
    (broken / "shrinking" / "mlp.py").write_text("import no_such_module\n", encoding="utf-8")
    done = with_site(broken, "evergraph", "list", "backbones", cwd=tmp_path)
    assert done.returncode == 0
    assert "gcn" in done.stdout
    assert "mlp of shrinking-graphs 1.2 cannot be used" in done.stderr
    failed = with_site(broken, "evergraph", "run", "--backbone", "mlp", *QUICK, cwd=tmp_path)
    assert failed.returncode == 2
    assert "No module named 'no_such_module'" in failed.stderr
    assert "Traceback" not in failed.stderr


FILE = '''
from collections.abc import Sequence

from evergraph import Learner, MethodEntry, Net, Settings, TaskView, Watch


class LazyConfig(Settings):
    """effort: nothing depends on it."""

    effort: int = 1


class Lazy(Learner):
    def __init__(self, net: Net, config: LazyConfig):
        super().__init__(net)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)


METHODS = {"lazy": MethodEntry("learns nothing", "nobody, 2026", LazyConfig, Lazy)}
'''


DATASET = """
from evergraph import DATASETS as TABLE
DATASETS = {"other": TABLE["sbm"]}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plug-in file; the tables are as before afterwards."""
    for table in plugins.TABLES.values():
        monkeypatch.setattr(table, "_own", dict(table.items()))
        monkeypatch.setattr(table, "_sources", dict(table._sources))
        monkeypatch.setattr(table, "_modules", dict(table._modules))
    monkeypatch.setattr(plugins, "_LOADED", {})
    path = tmp_path / "my_method.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_file_is_a_plugin(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "runs")
    command = ["run", "--plugin", str(file), "--method", "lazy,finetune", *QUICK, "--out", out, "--json"]
    assert run_main(command) == 0
    lazy, finetune = json.loads(capsys.readouterr().out)["runs"]
    assert lazy["config"]["method"] == {"name": "lazy", "effort": 1}
    assert "train" not in lazy["seconds"]
    assert "train" in finetune["seconds"]
    assert run_main(["list", "methods", "--plugin", str(file), "--json"]) == 0
    assert any(row["name"] == "lazy" for row in json.loads(capsys.readouterr().out)["methods"])


def test_a_grid_sends_the_file_to_its_workers(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "g.toml"
    grid.write_text(
        '[base.train]\nepochs = 2\n[[grid]]\n"method.name" = ["lazy"]\nseed = [0, 1]\n', encoding="utf-8"
    )
    out = str(tmp_path / "runs")
    assert run_main(["bench", str(grid), "--plugin", str(file), "--jobs", "2", "--out", out, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["done"]) == 2


def test_other_code_is_another_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are the same, so a result of the old code must not be shown for the new one."""
    load_plugin(file)
    config = RunConfig.from_values({"method": {"name": "lazy"}, "train": {"epochs": 1, "threads": 1}})
    first = run(config, tmp_path / "runs", resume=True).folder
    found = find_run(tmp_path / "runs", config)
    assert found is not None
    METHODS.remove("lazy")
    monkeypatch.setattr(plugins, "_LOADED", {})
    file.write_text(FILE + "\nCHANGED = True\n", encoding="utf-8")
    load_plugin(file)
    assert find_run(tmp_path / "runs", config) is None
    assert run(config, tmp_path / "runs", resume=True).folder != first


def test_what_a_plugin_prints_does_not_spoil_the_result(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("print('hello')" + FILE, encoding="utf-8")
    assert run_main(["list", "methods", "--plugin", str(file), "--json"]) == 0
    answer = capsys.readouterr()
    assert any(row["name"] == "lazy" for row in json.loads(answer.out)["methods"])
    assert "hello" in answer.err


def test_all_files_of_a_package_are_its_code(site: Path, tmp_path: Path) -> None:
    """A change in a module that the method only uses is another code, too."""

    def code(folder: Path) -> str:
        rows = output(with_site(folder, "evergraph", "list", "methods", "--json", cwd=tmp_path))["methods"]
        return next(str(row["plugin"]) for row in rows if row["name"] == "shrink")

    changed = tmp_path / "changed"
    shutil.copytree(site, changed)
    before = code(changed)
    assert before == code(site)
    with (changed / "shrinking" / "rings.py").open("a", encoding="utf-8") as module:
        module.write("# changed\n")
    assert code(changed) != before


def test_a_file_is_loaded_once(file: Path) -> None:
    assert load_plugin(file) == load_plugin(file)
    file.write_text(FILE + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="was loaded before it changed"):
        load_plugin(file)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1", "must have entries in METHODS, BACKBONES, SCORES, DATASETS, got none"),
        ("METHODS = {}", "must have entries in METHODS, BACKBONES, SCORES, DATASETS, got none"),
        ("def", "must be a Python file that runs, got SyntaxError instead"),
        ("1 / 0", "got ZeroDivisionError instead: division by zero"),
        ("import no_such_module", "got ModuleNotFoundError instead"),
        ("METHODS = [1]", "must be a dict from names to entries, got another one"),
        ("METHODS = {'a': 1}", "method 'a' of my_method.py must be a MethodEntry, got int instead"),
        (FILE.replace('"lazy"', '"joint"'), "got 'joint' of my_method.py, which evergraph has already"),
        (
            FILE.replace('"lazy"', '"all"'),
            "must be letters, digits, - and _, and not all, got 'all'",
        ),
        (FILE.replace('"lazy"', '"a b"'), "must be letters, digits, - and _, and not all, got 'a b'"),
        ("raise SystemExit(3)", "must be a Python file that runs, got SystemExit instead"),
        (DATASET, "data set 'other' of my_method.py must have that name in its entry, got 'sbm'"),
        (FILE + "\nSCORES = {'b': 2}", "score 'b' of my_method.py must be a ScoreEntry, got int instead"),
    ],
)
def test_a_bad_file_is_one_sentence_and_adds_nothing(file: Path, source: str, reason: str) -> None:
    before = list(METHODS)
    file.write_text(source, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_plugin(file)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(METHODS) == before


def test_a_missing_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main(["list", "methods", "--plugin", str(tmp_path / "none.py")]) == 2
    assert "a plug-in must be a Python file that can be read" in capsys.readouterr().err


def test_a_score_that_is_not_finite_is_not_written(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
import numpy as np
from evergraph import ScoreEntry
from evergraph.scores import NodeScores


def holes(context):
    return NodeScores(np.full(len(context.task.train), np.nan))


SCORES = {"holes": ScoreEntry("nan", "nobody, 2026", holes)}
"""
    file.write_text(source, encoding="utf-8")
    out = tmp_path / "scores.csv"
    assert (
        run_main(["score", "--plugin", str(file), "--dataset", "digits", "--score", "holes", "--out", str(out)])
        == 2
    )
    assert "the score holes must be one finite number for each of the 1797 nodes" in capsys.readouterr().err
    assert not out.exists()


FAILING = FILE.replace('"lazy"', '"boom"').replace("self.net.grow(task)", "1 / 0")


def test_an_error_in_a_plug_in_names_it(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(FAILING, encoding="utf-8")
    arguments = ["run", "--plugin", str(file), "--dataset", "digits", *QUICK, "--out", str(tmp_path)]
    assert run_main([*arguments, "--method", "boom"]) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero (it came up in the plug-in my_method.py;" in said
    assert "bug of evergraph" not in said


def test_a_method_that_fails_does_not_hide_the_others(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(FAILING, encoding="utf-8")
    arguments = ["run", "--plugin", str(file), "--dataset", "digits", *QUICK, "--out", str(tmp_path)]
    assert run_main([*arguments, "--method", "finetune,boom,joint"]) == 1
    said = capsys.readouterr()
    assert "finetune" in said.out
    assert "joint" in said.out
    assert "3 finished methods were wanted, got 2; failed: boom: ZeroDivisionError" in said.err
    assert run_main([*arguments, "--method", "boom,joint", "--json", "--resume"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [one["config"]["method"]["name"] for one in answer["runs"]] == ["joint"]
    assert list(answer["failed"]) == ["boom"]


def test_a_classifier_is_loaded_with_the_code_that_it_was_saved_with(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_plugin(file)
    graph = tiny_graph()
    model = ContinualClassifier("lazy", epochs=1).partial_fit((graph.adjacency, graph.features), graph.labels)
    model.save(tmp_path / "model")
    assert ContinualClassifier.load(tmp_path / "model").method == "lazy"
    monkeypatch.setitem(METHODS._sources, "lazy", "my_method.py, code 0")
    with pytest.raises(StoreError, match=r"needs the method lazy of my_method.py, .* got my_method.py, code 0"):
        ContinualClassifier.load(tmp_path / "model")


def test_a_plug_in_that_loads_itself_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    load = "import evergraph\nevergraph.load_plugin({!r})\nMETHODS = {{}}\n"
    one.write_text(load.format(str(one)), encoding="utf-8")
    words = "a plug-in that does not load itself is wanted, got one.py, which does, at once or through another; "
    with pytest.raises(ConfigError, match=words):
        load_plugin(one)
    assert run_main(["list", "methods", "--plugin", str(one)]) == 2
    answer = capsys.readouterr()
    assert words in answer.err
    assert answer.err.count("\n") == 1
    one.write_text(load.format(str(other)), encoding="utf-8")
    other.write_text(load.format(str(one)), encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        load_plugin(one)
    assert not plugins._LOADING
    assert not any(name in sys.modules for name in ("evergraph_plugin_one", "evergraph_plugin_other"))
