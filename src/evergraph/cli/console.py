"""Where the command line writes: results on stdout, everything else on stderr."""

import json
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from evergraph.watch import LearnedTask, Watch

STDOUT = Console()
STDERR = Console(stderr=True)


def print_json(content: Any) -> None:
    """One JSON object on stdout, exactly."""
    STDOUT.file.write(json.dumps(content, allow_nan=False) + "\n")


def print_facts(facts: dict[str, Any], *, as_json: bool) -> None:
    """Facts by name: a table of two columns, or one JSON object."""
    if as_json:
        print_json(facts)
        return
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    for key, value in facts.items():
        shown = (
            "\n".join(map(str, value)) if isinstance(value, list) else f"{value:,}" if type(value) is int else value
        )
        table.add_row(key.replace("_", " "), str(shown))
    STDOUT.print(table)


def counted(number: int, what: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def note(message: str) -> None:
    """A remark to the user, beside the result."""
    STDERR.print(f"note: {message}", style="dim", markup=False, highlight=False, soft_wrap=True)


class ProgressWatch(Watch):
    """Shows task, epoch, loss and time left; where stderr is no terminal, a line for each task."""

    def __init__(self, epochs: int, on_learned: Callable[[LearnedTask], None] = lambda task: None):
        super().__init__()
        self.epochs = epochs
        self.on_learned = on_learned
        self.index = self.count = 0
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=STDERR,
            disable=not STDERR.is_terminal,
        )
        self.bar = self.progress.add_task("loading", total=None, detail="")

    def __enter__(self) -> "ProgressWatch":
        self.progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.progress.stop()

    def task(self, index: int, count: int) -> None:
        self.index, self.count = index, count
        self.progress.update(
            self.bar,
            description=f"task {index + 1}/{count}",
            total=count * self.epochs,
            completed=index * self.epochs,
        )
        if not STDERR.is_terminal:
            STDERR.print(f"task {index + 1}/{count}", highlight=False)

    def learned(self, task: LearnedTask) -> None:
        self.on_learned(task)

    def epoch(self, epoch: int, loss: float) -> None:
        self.progress.update(
            self.bar,
            completed=self.index * self.epochs + epoch,
            detail=f"epoch {epoch}/{self.epochs}  loss {loss:.4f}",
        )
