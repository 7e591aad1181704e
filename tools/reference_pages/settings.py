"""docs/reference/settings.md, from the pydantic models of a run's settings."""

import inspect
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, get_args

from pydantic import BaseModel

from evergraph.backbones import BACKBONES
from evergraph.data.datasets import DATASETS, DatasetConfig, FileOptions
from evergraph.data.standardise import Standardisation
from evergraph.data.stream_config import StreamConfig
from evergraph.methods import METHODS
from evergraph.registry import Registry
from evergraph.runs.config import DEFAULT_METHOD
from evergraph.runs.data_config import SeedConfig
from evergraph.training.loop import TrainConfig
from reference_pages.fields import Row, one_line, rows, table, type_text, value_text

HEAD = """\
# Settings

Everything that decides a run, by section. A setting has a dotted name, and there are three ways to give it a value:

```sh
evergraph run --method ncm --set method.width=256 --set stream.class_order=random
```

```python
from evergraph import RunConfig

config = RunConfig.from_values({"method": {"name": "ncm", "width": 256}, "stream": {"class_order": "random"}})
print(config.changed())
```

or a TOML file for `--config`, in which a section is a table:

```toml
[method]
name = "ncm"
width = 256
```

In the tables a name lacks that of its section: `epochs` below train is `train.epochs`, `width` below method ncm is
`method.width`. A wrong name, type or value is refused in one sentence. A list is written `[1, 2]`, an object
`{a = 1}`. Settings that keep their default do not change a run's identity. Choices that need more than a line are
explained [at the end](#choices).
"""
HEADINGS = ("setting", "type or choices", "default", "meaning")
Choices = dict[tuple[str, type[Enum]], list[str]]
"""Where a choice is found: the setting and its Enum, and the methods or backbones that have it."""


def page() -> str:
    found: Choices = {}
    parts = [
        HEAD,
        *_datasets(found),
        _section("stream", StreamConfig, found),
        _section("train", TrainConfig, found),
        _section("seeds", SeedConfig, found),
        *_chosen("backbone", own(BACKBONES), "gcn", found),
        *_chosen("method", own(METHODS), DEFAULT_METHOD, found),
        _budgets(),
        "## Choices\n",
        *_meanings(found),
    ]
    return "\n".join(parts)


def own(registry: Registry[Any]) -> dict[str, Any]:
    """The entries of evergraph itself: what else is installed here is no matter of the page."""
    return {name: entry for name, entry in registry.items() if registry.source(name) is None}


def _section(name: str, model: type[BaseModel], found: Choices) -> str:
    return f"## {name}\n\n{_sentence(model)}\n\n{_table(name, model, found, '')}\n"


def _sentence(model: type) -> str:
    return (inspect.getdoc(model) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")


def _table(prefix: str, model: type[BaseModel], found: Choices, owner: str) -> str:
    lines = []
    for row in rows(model):
        kind = _choice(row)
        if kind is not None:
            found.setdefault((f"{prefix}.{row.name}", kind), []).append(owner)
        if not (isinstance(row.kind, type) and issubclass(row.kind, BaseModel)):  # it has a table of its own
            kinds = ", ".join(filter(None, (type_text(row.kind), row.limits)))
            lines.append((f"`{row.name}`", kinds, value_text(row.default), row.meaning))
    return table(HEADINGS, lines) if lines else "No settings."


def _choice(row: Row) -> type[Enum] | None:
    """The Enum of a field, alone or beside other types."""
    kinds = [row.kind, *get_args(row.kind)]
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)), None)


def _datasets(found: Choices) -> list[str]:
    parts = [_section("dataset", DatasetConfig, found)]
    steps = _table("dataset.standardise", Standardisation, found, "")
    parts.append(f"### dataset.standardise\n\n{_sentence(Standardisation)}\n\n{steps}\n")
    for name, entry in own(DATASETS).items():
        if entry.options.model_fields:
            options = _table("dataset.options", entry.options, found, name)
            parts.append(f"### dataset.options of {name}\n\n{_sentence(entry.options)}\n\n{options}\n")
    options = _table("dataset.options", FileOptions, found, "graph files")
    parts.append(f"### dataset.options of graph files\n\n{_sentence(FileOptions)}\n\n{options}\n")
    return parts


def _chosen(section: str, entries: Mapping[str, Any], default: str, found: Choices) -> list[str]:
    """A section whose settings depend on its name."""
    names = ", ".join(f"`{name}`" for name in entries)
    name_row = ("`name`", names, f"`{default}`", f"Name of the {section}; a plug-in adds its own.")
    parts = [f"## {section}\n\n{table(HEADINGS, [name_row])}\n"]
    for name, entry in entries.items():
        settings = _table(section, entry.config, found, name)
        parts.append(f"### {section} {name}\n\n`{name}`: {entry.summary} ({entry.paper}).\n\n{settings}\n")
    return parts


def _budgets() -> str:
    lines = [(f"`{name}`", str(entry.budget)) for name, entry in own(DATASETS).items()]
    return (
        "### method.budget by data set\n\nA budget that is not given is the data set's, and on a graph file the "
        f"method's own default.\n\n{table(('data set', 'budget'), lines)}\n"
    )


def _meanings(found: Choices) -> list[str]:
    """What the words of each choice mean, in the words of its Enum; those that the tables explain are left out."""
    parts = []
    for (setting, kind), owners in found.items():
        if _in_values(kind) == one_line(inspect.getdoc(kind) or ""):
            continue
        several = len({enum for name, enum in found if name == setting}) > 1
        heading = f"### {setting}" + (f" of {', '.join(owners)}" if several else "")
        parts.append(f"{heading}\n\n{', '.join(f'`{entry.value}`' for entry in kind)}. {_in_values(kind)}\n")
    return parts


def _in_values(kind: type[Enum]) -> str:
    """The docstring of an Enum, with the values of its members for their names."""
    text = one_line(inspect.getdoc(kind) or "")
    names = sorted(kind.__members__, key=len, reverse=True)
    return re.sub(rf"\b({'|'.join(names)})\b", lambda match: f"`{kind[match[1]].value}`", text)
