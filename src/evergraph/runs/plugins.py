"""Methods, backbones, scores and data sets from a Python file that belongs to no package.

A plug-in file has one or more of the tables METHODS, BACKBONES, SCORES and DATASETS: dicts from names to entries. A
plug-in of several files is a package with entry points (see CONTRIBUTING.md).
"""

import linecache
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any

from evergraph.backbones import BACKBONES
from evergraph.data.datasets import DATASETS
from evergraph.errors import ConfigError
from evergraph.methods import METHODS
from evergraph.registry import Registry
from evergraph.scores import SCORES

TABLES: Mapping[str, Registry[Any]] = {
    "METHODS": METHODS,
    "BACKBONES": BACKBONES,
    "SCORES": SCORES,
    "DATASETS": DATASETS,
}


@dataclass(frozen=True)
class PluginFile:
    """A plug-in file as it was read; another process loads the same source."""

    path: str
    source: str


_LOADED: dict[str, PluginFile] = {}
_LOADING: set[str] = set()


class CircularPlugin(ConfigError):
    """A plug-in file loads itself, at once or through another one."""


def load_plugin(path: str | Path) -> PluginFile:
    """Add the entries of a plug-in file to the tables; ConfigError in one sentence where that cannot be done."""
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"a plug-in must be a Python file that can be read, got {path} ({error})") from None
    plugin = PluginFile(str(Path(path).resolve()), source)
    load_plugins([plugin])
    return plugin


def load_plugins(plugins: Iterable[PluginFile]) -> None:
    """Load plug-in files that were read elsewhere; one that is loaded already is left alone."""
    for plugin in plugins:
        before = _LOADED.get(plugin.path)
        if plugin.path in _LOADING:
            raise CircularPlugin(
                f"a plug-in that does not load itself is wanted, got {Path(plugin.path).name}, which does, "
                "at once or through another; take its call of load_plugin out"
            )
        if before is None:
            _LOADING.add(plugin.path)
            try:
                _register(plugin, _executed(plugin))
            finally:
                _LOADING.discard(plugin.path)
            _LOADED[plugin.path] = plugin
        elif before.source != plugin.source:
            raise ConfigError(f"{plugin.path} was loaded before it changed; start a new process to load it again")


def loaded_plugins() -> tuple[PluginFile, ...]:
    """The plug-in files of this process, for the processes that it starts."""
    return tuple(_LOADED.values())


def plugin_at_fault(error: BaseException) -> str | None:
    """The plug-in in whose code an error came up, or None where none took part."""
    frames = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    return next(
        (origin for module in frames for table in TABLES.values() if (origin := table.origin(module))), None
    )


def _executed(plugin: PluginFile) -> ModuleType:
    name = Path(plugin.path).name
    module = ModuleType(f"evergraph_plugin_{Path(plugin.path).stem}")
    module.__file__ = plugin.path
    sys.modules[module.__name__] = module  # pydantic and dataclasses look their module up
    linecache.cache[plugin.path] = len(plugin.source), None, plugin.source.splitlines(keepends=True), plugin.path
    try:
        with redirect_stdout(sys.stderr):  # results have stdout for themselves
            exec(compile(plugin.source, plugin.path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        sys.modules.pop(module.__name__, None)
        if isinstance(error, CircularPlugin):
            raise
        raise ConfigError(
            f"the plug-in {name} must be a Python file that runs, got {type(error).__name__} instead: {error}"
        ) from error
    return module


def _register(plugin: PluginFile, module: ModuleType) -> None:
    """All entries of a plug-in, or none where one of them cannot be added."""
    name = Path(plugin.path).name
    found = [(table, module.__dict__[key]) for key, table in TABLES.items() if key in module.__dict__]
    if not any(entries for _, entries in found):
        raise ConfigError(f"the plug-in {name} must have entries in {', '.join(TABLES)}, got none instead")
    for table, entries in found:
        if not isinstance(entries, dict) or not all(isinstance(key, str) for key in entries):
            raise ConfigError(
                f"a table of the plug-in {name} must be a dict from names to entries, got another one"
            )
        for key, entry in entries.items():
            table.check(key, entry, name)
    for table, entries in found:
        for key, entry in entries.items():
            table.add_foreign(key, entry, name)
