"""The layers hold, and the page about them says what the code says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import architecture  # noqa: E402


def test_the_page_and_the_picture_agree_with_the_code() -> None:
    advice = "run python tools/architecture.py"
    assert architecture.PAGE.read_text(encoding="utf-8") == architecture.page(), advice
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.picture(), advice
    assert architecture.FOR_PHONES.read_text(encoding="utf-8") == architecture.picture(narrow=True), advice


@pytest.mark.parametrize(("narrow", "shown"), [(False, 748), (True, 358)])
def test_the_picture_can_be_read(narrow: bool, shown: int) -> None:
    """The site has 748 px for a picture in a window of 1,280, on a phone 358."""
    text = architecture.picture(narrow=narrow)
    (width,) = map(int, re.findall(r'viewBox="0 0 (\d+) ', text))
    assert min(map(int, re.findall(r'font-size="(\d+)"', text))) * shown / width > 10
    assert len(re.findall("<rect", text)) == 1 + sum(map(len, architecture.layers()))


def test_every_package_has_a_layer_and_every_module_a_sentence() -> None:
    names = {name for layer in architecture.layers() for name in layer}
    there = {
        path.stem
        for path in architecture.PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert names == there - {"__init__", "__main__"}
    for path in architecture.PACKAGE.rglob("*.py"):
        assert architecture.sentence(path), path


def test_files_that_the_page_names_exist() -> None:
    text = architecture.PAGE.read_text(encoding="utf-8")
    names = re.findall(r"`([\w/]+\.py)`", text)
    assert names
    for name in names:
        assert any((root / name).exists() for root in (architecture.PACKAGE, ROOT)), name


def test_the_contract_notices_an_import_upwards(tmp_path: Path) -> None:
    """The same contract on a copy in which a low layer imports a high one."""
    shutil.copytree(architecture.PACKAGE, tmp_path / "evergraph", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    command = [
        sys.executable,
        "-c",
        "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports; sys.exit(lint_imports())",
    ]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "evergraph" / "hodge" / "upwards.py").write_text(
        "from evergraph.results import load\n", encoding="utf-8"
    )
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "evergraph.hodge is not allowed to import evergraph.results" in done.stdout
