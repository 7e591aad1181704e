"""docs/reference/record.md, from the typed records and from what --json prints."""

import inspect

from evergraph.replay.usage import MemoryUsage
from evergraph.results.projection import Projection, ProjectionSettings
from evergraph.results.records import SmallRecord
from evergraph.results.summary import Averages, SoFar
from evergraph.runs.record import SCHEMA_VERSION, BatchRecord, DataRecord, Record, TaskRecord
from reference_pages.fields import rows, table, type_text
from reference_pages.outputs import OUTPUTS, PARTS, Key

HEAD = f"""\
# Records and JSON

What a run leaves behind, and what commands print with `--json`. All of it is JSON in UTF-8. `record.json` has
counts, from which every accuracy is computed. Accuracies of runs are in percent, those of models (`learn`,
`inspect`) shares from 0 to 1.

An *object of number* has names as keys, and a number for each. *By split*, the names are `val` and `test`;
*by protocol*, `task-graphs` or `whole-graph`; *by phase*, what the method does, such as `train`, `score` and
`select`.

## record.json

The file of a finished run, of version {SCHEMA_VERSION}. Later versions may add fields; readers ignore those that
they do not know. Python reads it with `evergraph.Record`:

```sh
evergraph run --dataset digits --method ncm --out runs
```

```python
from pathlib import Path

from evergraph import Record, summarise

(path,) = Path("runs").glob("digits-ncm-*/record.json")
record = Record.model_validate_json(path.read_text())
print(record.data.tasks, record.total["test"], f"{{summarise(record).aa:.1f}} %")
```
"""
INSIDE = (DataRecord, MemoryUsage, BatchRecord)
EXPORTED = (SoFar, Averages, Projection, ProjectionSettings)


def page() -> str:
    parts = [HEAD, _fields(Record)]
    parts += [_part(model) for model in INSIDE]
    parts += ["## task-000.json\n", f"{_sentence(TaskRecord)} One file for each task.\n", _fields(TaskRecord)]
    parts += ["## Lines of results/*.json\n", _exported(), _fields(SmallRecord)]
    parts += [_part(model) for model in EXPORTED]
    parts += [
        "## What --json prints\n",
        "One object on stdout, in one line; notes go to stderr. `serve` has no `--json`.\n",
    ]
    parts += [_output(command, *found) for command, found in OUTPUTS.items()]
    parts += [_part(model) for model in PARTS]
    return "\n".join(parts)


def _exported() -> str:
    return (
        "`evergraph bench --export FILE` writes one object with `experiment`, its name, `choices`, how tuned "
        "settings were chosen, and `runs`, a line for each finished run:\n"
    )


def _sentence(model: type) -> str:
    return " ".join((inspect.getdoc(model) or "").split())


def _part(model: type) -> str:
    return f"### {model.__name__}\n\n{_sentence(model)}\n\n{_fields(model)}"


def _fields(model: type) -> str:
    lines = [(f"`{row.name}`", type_text(row.kind), row.meaning) for row in rows(model)]
    return table(("field", "type", "meaning"), lines) + "\n"


def _output(command: str, sentence: str, found: list[Key]) -> str:
    lines = [(f"`{key.name}`", key.type, key.meaning) for key in found]
    said = f"{sentence}\n\n" if sentence else ""
    return f"### evergraph {command} --json\n\n{said}{table(('key', 'type', 'meaning'), lines)}\n"
