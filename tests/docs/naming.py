"""What evergraph has by name: commands with their options, settings, and what can be imported."""

import re
from importlib import import_module
from itertools import pairwise
from typing import Any

import typer
from pydantic import BaseModel

from evergraph.backbones import BACKBONES
from evergraph.cli import app
from evergraph.cli.bench import with_page
from evergraph.data.datasets import DATASETS, DatasetConfig, is_path
from evergraph.data.stream import StreamConfig
from evergraph.methods import METHODS
from evergraph.registry import Registry
from evergraph.runs.config import SECTIONS
from evergraph.runs.data_config import SeedConfig
from evergraph.scores import SCORES
from evergraph.training.loop import TrainConfig

TOP: Any = typer.main.get_command(app)
TABLES: dict[str, Registry[Any]] = {
    "--method": METHODS,
    "--backbone": BACKBONES,
    "--score": SCORES,
    "--dataset": DATASETS,
}
OTHER_NAMES = {"--method": {"all", "memory", "blocks", "petsc"}}
"""`score --method` is about the Hodge potential."""


def option_names(command: Any = TOP) -> set[str]:
    """Every option of a command and of those below it."""
    own = {name for one in command.params for name in (*one.opts, *one.secondary_opts) if name.startswith("-")}
    below = [option_names(one) for one in getattr(command, "commands", {}).values()]
    return own.union({"--help"}, *below)


def complaint(words: list[str]) -> str:
    """What is wrong with the words after `evergraph`, or nothing."""
    command: Any = TOP
    rest = with_page(list(words))
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        if rest[0].isupper():  # COMMAND stands for any
            return ""
        if rest[0] not in command.commands:
            return f"{rest[0]} is no command"
        command = command.commands[rest.pop(0)]
    context = command.context_class(command, info_name="evergraph")
    try:
        values, left, _ = command.make_parser(context).parse_args(list(rest))
    except Exception as error:  # whichever kind of usage error this version of the library has
        return str(getattr(error, "message", error))
    if left:
        return f"{left} is too much"
    # what is missing is None, or a mark of click's own
    given = {name for name, value in values.items() if isinstance(value, str | list | tuple)}
    missing = [one.name for one in command.params if one.required and one.name not in given]
    return f"{missing} is missing" if missing and "--help" not in rest else wrong_value(rest)


def wrong_value(words: list[str]) -> str:
    """The first name or setting among the values of options that does not exist, or nothing."""
    for option, value in pairwise(words):
        if option == "--set" and not is_setting(value.partition("=")[0]):
            return f"{value} is no setting"
        if option in TABLES and "--plugin" not in words:
            names = [name for name in value.split(",") if not is_path(name) and name not in ("NAME", "…", "...")]
            unknown = [one for one in names if one not in TABLES[option] and one not in OTHER_NAMES.get(option, ())]
            if unknown:
                return f"{unknown[0]} is unknown to {option}"
    return ""


def fields(model: type[BaseModel], prefix: str) -> set[str]:
    """The dotted names of settings, sections within them included."""
    found = set()
    for name, field in model.model_fields.items():
        found.add(f"{prefix}.{name}")
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found |= fields(field.annotation, f"{prefix}.{name}")
    return found


def settings() -> set[str]:
    """Every setting of any method, backbone and data set."""
    sections: dict[str, type[BaseModel]] = {
        "dataset": DatasetConfig,
        "stream": StreamConfig,
        "train": TrainConfig,
        "seeds": SeedConfig,
    }
    found = {f"{name}.name" for name in ("dataset", "backbone", "method")}
    for name, model in sections.items():
        found |= fields(model, name)
    for prefix, entries in (("backbone", BACKBONES), ("method", METHODS)):
        found = found.union(*(fields(entries[name].config, prefix) for name in entries))
    return found.union(*(fields(DATASETS[name].options, "dataset.options") for name in DATASETS), file_options())


def file_options() -> set[str]:
    from evergraph.data.datasets import dataset_options

    paths = ("a/edges.csv", "a/graph.npz", "a/")
    return {f"dataset.options.{key}" for path in paths for key in type(dataset_options(path, {})).model_fields}


SETTINGS = settings()


def is_setting(name: str) -> bool:
    """Whether a dotted name, perhaps of a whole section, is one of a setting."""
    return name in SETTINGS


def looks_like_setting(text: str) -> bool:
    """`train.epochs`, not `run.json`."""
    return re.fullmatch(rf"({'|'.join(sorted(SECTIONS))})(\.[a-z_0-9]+)+", text) is not None


def exists(dotted: str) -> bool:
    """Whether `evergraph.a.b` is a module, or something in one."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(found, name) and name not in getattr(found, "model_fields", {}):
                return False
            found = getattr(found, name, None)
        return True
    return False
