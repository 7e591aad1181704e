"""The source itself: nothing in it runs what it reads, but for plug-ins, which are code."""

import ast
from pathlib import Path

import pytest

import evergraph

ROOT = Path(evergraph.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
CALLS = {
    *("eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load"),
    *("marshal.loads", "shelve.open", "yaml.load", "yaml.unsafe_load", "torch.load", "joblib.load", "dill.load"),
    *("dill.loads", "cloudpickle.load", "cloudpickle.loads", "tempfile.mktemp", "mktemp", "os.system", "os.popen"),
    *("pandas.read_pickle", "np.fromregex", "jsonpickle.decode", "tarfile.open", "shutil.unpack_archive"),
}
IMPORTS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle", "yaml", "xml", "tarfile"}
FLAGS = {("allow_pickle", True), ("weights_only", False), ("shell", True), ("verify", False), ("autoescape", False)}
ALLOWED = {
    ("runs/plugins.py", "exec"),  # a plug-in is code that a person names
    ("runs/plugins.py", "compile"),
    ("testing/datasets.py", "pickle"),  # replaced there by what fails
}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def found_in(tree: ast.AST) -> set[str]:
    """Names of what must not be there."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if dotted(node.func) in CALLS:
                found.add(dotted(node.func))
            for word in node.keywords:
                if isinstance(word.value, ast.Constant) and (word.arg, word.value.value) in FLAGS:
                    found.add(f"{word.arg}={word.value.value!r}")
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found |= {name.partition(".")[0] for name in names} & IMPORTS
    return found


def test_nothing_runs_what_it_reads() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), one)
        for path in FILES
        for one in found_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    "line",
    [
        "eval(x)",
        "import pickle",
        "from marshal import loads",
        "np.load(x, allow_pickle=True)",
        "torch.load(x)",
        "run(x, shell=True)",
        "tempfile.mktemp()",
        "f(weights_only=False)",
    ],
)
def test_the_search_finds_what_it_looks_for(line: str) -> None:
    assert found_in(ast.parse(line))
