"""The command line: one file a command; each parses, calls and prints.

A command imports what it needs when it runs, so that --help and --version need neither torch nor matplotlib.
"""

import errno
import logging
import os
import shlex
import sys
from importlib.util import find_spec

import typer

from evergraph import __version__
from evergraph.cli import (
    bench,
    data,
    forget,
    inspect,
    learn,
    listing,
    merge,
    predict,
    probe,
    recommend,
    report,
    run,
    score,
    serve,
    show,
)
from evergraph.cli.console import STDERR, note
from evergraph.errors import ConfigError, ConvergenceError, DataError, RunError, StoreError

OUR_BUG = "this is a bug of evergraph"
DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

app = typer.Typer(
    help="Continual graph learning: node classification on a graph that keeps growing new classes.",
    epilog="Example: evergraph run --dataset digits --method joint --backbone gcn --seed 0",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run", epilog=run.EXAMPLE)(run.run_command)
app.command("score", epilog=score.EXAMPLE)(score.score_command)
app.command("recommend", epilog=recommend.EXAMPLE)(recommend.recommend_command)
app.command("bench", epilog=bench.EXAMPLE)(bench.bench_command)
app.command("list", epilog=listing.EXAMPLE)(listing.list_command)
app.command("show", epilog=show.EXAMPLE)(show.show_command)
app.command("report", epilog=report.EXAMPLE)(report.report_command)
if find_spec("evergraph.paper"):  # the rest works without what knows the paper
    from evergraph.cli import reproduce

    app.command("reproduce", epilog=reproduce.EXAMPLE)(reproduce.reproduce_command)
app.command("learn", epilog=learn.EXAMPLE)(learn.learn_command)
app.command("predict", epilog=predict.EXAMPLE)(predict.predict_command)
app.command("inspect", epilog=inspect.EXAMPLE)(inspect.inspect_command)
app.command("forget", epilog=forget.EXAMPLE)(forget.forget_command)
app.command("merge", epilog=merge.EXAMPLE)(merge.merge_command)
app.command("serve", epilog=serve.EXAMPLE)(serve.serve_command)
app.add_typer(data.app, name="data")
app.add_typer(probe.app, name="probe")


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 bad input, 1 a failure of ours, 130 interrupted."""
    sys.exit(run_main(sys.argv[1:] if arguments is None else arguments))


def run_main(arguments: list[str]) -> int:
    """The exit code of a command line; whatever goes wrong is reported in one sentence on stderr."""
    notices = _Notices()
    logging.getLogger("evergraph").addHandler(notices)
    try:
        code = app(bench.with_page(arguments) or ["--help"], prog_name="evergraph", standalone_mode=False)
    except (DataError, ConfigError, StoreError) as error:
        return _complain("error", str(error), BAD_INPUT)
    except (ConvergenceError, RunError) as error:
        return _complain("error", str(error), FAILED)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except Exception as error:
        return _unexpected(error)
    finally:
        logging.getLogger("evergraph").removeHandler(notices)
    if code == INTERRUPTED:  # some versions of typer answer an interruption themselves
        return _interrupted(arguments)
    return code if isinstance(code, int) else DONE


class _Notices(logging.Handler):
    """Shows what the library logs as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


def _unexpected(error: Exception) -> int:
    if hasattr(error, "format_message"):  # a usage error of the command-line library
        return _complain("error", error.format_message(), BAD_INPUT)
    if isinstance(error, BrokenPipeError):  # the reader of our output has left
        _drop_output()
        return DONE
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        _drop_output()
        return _complain("error", "room for the output is wanted, got a full disk instead; free some", FAILED)
    wanted = _wanted(error)
    if wanted is not None:
        return _complain("error", wanted, BAD_INPUT)
    if os.environ.get("EVERGRAPH_TRACEBACK"):
        raise error
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return _complain(
            "error", "what was asked for must fit into memory, got too little of it; --memory may help", FAILED
        )
    plugin = _plugin_at_fault(error)
    kind, cause = ("error", f"it came up in the plug-in {plugin}") if plugin else ("internal error", OUR_BUG)
    advice = f"{cause}; EVERGRAPH_TRACEBACK=1 shows where"
    return _complain(kind, f"{type(error).__name__}: {error} ({advice})", FAILED)


def _wanted(error: Exception) -> str | None:
    """What is wrong with the system or the input where an error says so by its kind."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return "a path that the system can have is wanted, got a longer one"
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return "this needs torch, got none installed; pip install torch"
    return None


def _drop_output() -> None:
    """What is still to be printed goes nowhere, so that it does not fail again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _plugin_at_fault(error: Exception) -> str | None:
    """The plug-in in which an error came up; nothing is imported for a command that never came so far."""
    plugins = sys.modules.get("evergraph.runs.plugins")
    return plugins.plugin_at_fault(error) if plugins else None


def _complain(kind: str, message: str, code: int) -> int:
    STDERR.print(f"{kind}: {' '.join(message.split())}", style="red", markup=False, highlight=False, soft_wrap=True)
    return code


def _interrupted(arguments: list[str]) -> int:
    STDERR.print("interrupted", style="yellow")
    if arguments[:1] == ["run"]:
        again = arguments if "--resume" in arguments else [*arguments, "--resume"]
        command = "evergraph " + shlex.join(again)
        STDERR.print(
            f"finished tasks are kept; resume with: {command}", markup=False, highlight=False, soft_wrap=True
        )
    return INTERRUPTED
