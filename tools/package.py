"""Build the sdist and the wheel, check them, and use the wheel in an empty environment outside of the repository.

    python tools/package.py            # writes dist/
    python tools/package.py --empty    # the same, with everything installed anew: some minutes, 1.3 GB

The wheel that is built from the sdist must be the one that is built from the repository, with every file of
src/evergraph and no other. The demo runs in an environment into which only the wheel was installed; what it depends
on is read from the environment of the Python that runs this, without evergraph, and `pip check` says whether that
is what the wheel declares. With --empty nothing is read from there: what the wheel declares is installed with it
from the index, in the versions of constraints.txt.
"""

import argparse
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
DIST = ROOT / "dist"
QUICK = ["--epochs", "2"]


def contents(wheel: Path) -> dict[str, str]:
    """The SHA-256 of each file in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def sources(folder: Path = SOURCE) -> dict[str, str]:
    """The SHA-256 of each file of the package in the repository."""
    every = (path for path in (folder / "evergraph").rglob("*") if path.is_file())
    files = [path for path in every if "__pycache__" not in path.parts]  # what Python and numba have compiled
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def faults(packed: dict[str, str], wanted: dict[str, str]) -> list[str]:
    """How the files of a wheel, without its metadata, differ from those wanted, one sentence each."""
    own = {name: digest for name, digest in packed.items() if ".dist-info/" not in name}
    found = [f"the wheel lacks {name}" for name in sorted(wanted.keys() - own.keys())]
    found += [f"the wheel has {name}, which is not in src" for name in sorted(own.keys() - wanted.keys())]
    return found + [f"{name} differs" for name in sorted(own.keys() & wanted.keys()) if own[name] != wanted[name]]


def demo_commands(makefile: str) -> list[list[str]]:
    """The arguments of evergraph in the demo of a Makefile, runs with few epochs."""
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    lines = recipe[1].splitlines() if recipe else []
    commands = [
        shlex.split(line.partition("$(BIN)/evergraph ")[2]) for line in lines if "$(BIN)/evergraph " in line
    ]
    return [[*command, *QUICK] if command[0] == "run" else command for command in commands]


def _call(*command: object, folder: Path = ROOT) -> str:
    """The output of a command that must succeed, without the repository on its path."""
    texts = [str(part) for part in command]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment["PYTHONNOUSERSITE"] = "1"
    start, worked = time.perf_counter(), _worked()
    done = subprocess.run(texts, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    shown = " ".join(Path(texts[0]).name if at == 0 else text for at, text in enumerate(texts))
    took = f"{time.perf_counter() - start:6.1f} s, processor {_worked() - worked:5.1f} s"
    print(f"{took}  {shown.replace(str(ROOT), '.')[:80]}", flush=True)
    if done.returncode != 0:
        sys.exit(f"{shown} must succeed, got exit code {done.returncode} instead:\n{done.stdout}{done.stderr}")
    return done.stdout


def _worked() -> float:
    """Processor seconds of finished processes that this one started."""
    times = os.times()
    return times.children_user + times.children_system


def _must(right: bool, message: str) -> None:
    if not right:
        sys.exit(message)


def build(folder: Path) -> Path:
    """Build dist/ and check it; the wheel that was built from the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    _call(sys.executable, "-m", "build", "--outdir", DIST)  # an sdist, and from it a wheel
    _call(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "direct")
    _call(sys.executable, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()))
    (wheel,), (direct,) = DIST.glob("*.whl"), (folder / "direct").glob("*.whl")
    _must(contents(wheel) == contents(direct), "the sdist must build the wheel of the repository, got another")
    found = faults(contents(wheel), sources())
    _must(not found, "; ".join(found))
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """An environment with nothing but the wheel, and a path to what it depends on; its folder of programs."""
    home = folder / "venv"
    _call(sys.executable, "-m", "venv", "--without-pip", home)
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    _call(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel)
    site = Path(_call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(paths)) + "\n", encoding="utf-8")
    check_requirements(home)
    return programs


def install_all(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel and all that it declares, from the index; its folder of programs."""
    home = folder / "venv"
    _call(sys.executable, "-m", "venv", home)
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    constraints = ROOT / "constraints.txt"
    _call(programs / "python", "-m", "pip", "install", "--quiet", "--constraint", constraints, wheel, folder=folder)
    check_requirements(home)
    return programs


def check_requirements(home: Path) -> None:
    """Whatever the wheel declares as required is in its environment, in a version that it allows."""
    _call(sys.executable, "-m", "pip", "--python", home, "check")


def use(programs: Path, folder: Path) -> None:
    """The wheel's own code answers, and the demo runs."""
    place = _call(programs / "python", "-c", "import evergraph; print(evergraph.__file__)", folder=folder).strip()
    _must(Path(place).is_relative_to(programs.parent), f"the wheel's own code must run, got {place} instead")
    _must(sources(Path(place).parents[1]) == sources(), "the installed files must be those of src, got others")
    version = _call(programs / "python", "-m", "evergraph", "--version", folder=folder).strip()
    _must(f"-{version}-" in next(DIST.glob("*.whl")).name, f"the version of the wheel is wanted, got {version}")
    listed = _call(programs / "evergraph", "list", "methods", folder=folder)
    _must("ftf-er-det" in listed, f"the methods are wanted, got {listed!r} instead")
    for command in demo_commands((ROOT / "Makefile").read_text(encoding="utf-8")):
        _call(programs / "evergraph", *command, folder=folder)
    page = (folder / "runs" / "report.html").read_text(encoding="utf-8")
    _must("ftf-er-prob" in page, "the demo's page must show its methods, got another")


def main() -> None:
    """Build, check, install and use; exits with a sentence where something is wrong."""
    parser = argparse.ArgumentParser(description="Build and check sdist and wheel, and use the wheel.")
    parser.add_argument("--empty", action="store_true", help="install what the wheel needs anew, from the index")
    installed = install_all if parser.parse_args().empty else install
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        use(installed(build(folder), folder), folder)
    print("the wheel has every file, comes from the sdist too, and runs outside of the repository")


if __name__ == "__main__":
    main()
