"""Where the command line writes: results on stdout, everything else on stderr."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import Segment

from evergraph.watch import LearnedTask, Watch

CONTROLS = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}
"""Characters that steer a terminal, or turn the direction of what follows."""


class PlainConsole(Console):
    """Names in a graph are a stranger's: nothing in them is markup, an emoji, or steers the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else text.translate(CONTROLS), style, control)


STDOUT = PlainConsole()
STDERR = PlainConsole(stderr=True)


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
    table.add_column()
    table.add_column(overflow="fold")  # paths are of no use without their ends
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


class NotesOnce:
    """Remarks to the user, each of them once."""

    def __init__(self) -> None:
        self.told: set[str] = set()

    def __call__(self, message: str) -> None:
        if message not in self.told:
            self.told.add(message)
            note(message)


class ProgressWatch(Watch):
    """Shows task, epoch, loss and time left; where stderr is no terminal, a line for each task."""

    def __init__(
        self,
        epochs: int,
        on_learned: Callable[[LearnedTask], None] = lambda task: None,
        on_plan: Callable[[str], None] = lambda plan: None,
    ):
        super().__init__()
        self.epochs = epochs
        self.on_learned = on_learned
        self.on_plan = on_plan
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
        if not self.progress.disable:  # before 14.3 rich ends even a bar that it never showed with an empty line
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

    def on_disk(self, plan: str) -> None:
        self.on_plan(plan)

    def learned(self, task: LearnedTask) -> None:
        self.on_learned(task)

    def epoch(self, epoch: int, loss: float) -> None:
        self.progress.update(
            self.bar,
            completed=self.index * self.epochs + epoch,
            detail=f"epoch {epoch}/{self.epochs}  loss {loss:.4f}",
        )
