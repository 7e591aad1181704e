"""Registry: an explicit table of named entries, which other packages may extend.

Duplicates raise; an unknown name lists the choices and the nearest. Entries of other packages come from entry
points, which are read when the table is first used.
"""

import hashlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from evergraph.errors import ConfigError

T = TypeVar("T")
OURS = "evergraph"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class Registry(Mapping[str, T], Generic[T]):
    """Maps names to entries of one kind, in the order in which they were added.

    plugins: the group of entry points in which other packages name entries of `entry_type`.
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, T] | None = None,
        *,
        entry_type: type[T] | None = None,
        plugins: str | None = None,
    ) -> None:
        self.kind = kind
        self.entry_type = entry_type
        self._plugins: str | None = None
        self._own: dict[str, T] = {}
        self._broken: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._modules: dict[str, str] = {}
        for name, entry in (entries or {}).items():
            self.add(name, entry)
        self._plugins = plugins

    @property
    def _entries(self) -> dict[str, T]:
        """All entries; the first use brings those of other packages."""
        if self._plugins is not None:
            group, self._plugins = self._plugins, None
            for point in sorted(entry_points(group=group), key=lambda point: point.name):
                self._add_entry_point(point)
        return self._own

    def _add_entry_point(self, point: EntryPoint) -> None:
        """Add the entry of another package; one that cannot be loaded is only reported when it is asked for."""
        package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            self.add_foreign(point.name, point.load(), package)
        except Exception as error:  # whatever a stranger's module raises, our own entries stay usable
            self._broken[point.name] = f"{package} cannot be used ({type(error).__name__}: {error})"

    def check(self, name: str, entry: object, origin: str) -> T:
        """An entry that may be added under this name; ConfigError where it may not."""
        if self.entry_type is not None and not isinstance(entry, self.entry_type):
            wanted, came = self.entry_type.__name__, type(entry).__name__
            raise ConfigError(f"{self.kind} {name!r} of {origin} must be a {wanted}, got {came} instead")
        if not NAME.fullmatch(name) or name == "all":
            raise ConfigError(
                f"the name of a {self.kind} must be letters, digits, - and _, and not all, got {name!r} of {origin}"
            )
        own = getattr(entry, "name", name)
        if origin != OURS and own != name:
            raise ConfigError(
                f"{self.kind} {name!r} of {origin} must have that name in its entry, got {own!r} instead"
            )
        if (known := self._find(name)) is not None:
            holder = self._sources.get(known, OURS)
            raise ConfigError(
                f"the name of a {self.kind} must be new, got {name!r} of {origin}, which {holder} has already; "
                "choose another"
            )
        return entry  # type: ignore[return-value]

    def add_foreign(self, name: str, entry: object, origin: str) -> None:
        """Add an entry from outside of this package, and remember where it came from and what its code was."""
        self._own[name] = self.check(name, entry, origin)
        made = _made(entry)
        self._sources[name] = f"{origin}, code {_code_digest(made)}"
        if (module := _top_module(made)) != OURS:  # an entry of another package may build one of our classes
            self._modules[module] = origin

    def add(self, name: str, entry: T) -> T:
        """Add an entry."""
        self._own[name] = self.check(name, entry, OURS)
        return entry

    def remove(self, name: str) -> None:
        """Take an entry out of the table again."""
        del self._own[self.canonical(name)]
        self._sources.pop(name, None)

    def source(self, name: str) -> str | None:
        """Where an entry from outside came from, with a digest of its code; None for evergraph's own."""
        return self._sources.get(self.canonical(name))

    def origin(self, module: str) -> str | None:
        """Which plug-in a module belongs to; None for one that brought no entry."""
        return self._modules.get(module.partition(".")[0])

    @property
    def broken(self) -> Mapping[str, str]:
        """Entries of other packages that cannot be loaded, and why."""
        return self._broken if self._entries else {}

    def canonical(self, name: str) -> str:
        """The name as it is registered; case, hyphens and underscores do not matter."""
        found = self._find(name)
        if found is None:
            raise ConfigError(self._unknown(name))
        return found

    def _find(self, name: str) -> str | None:
        return next((known for known in self._entries if _plain(known) == _plain(name)), None)

    def __getitem__(self, name: str) -> T:
        return self._entries[self.canonical(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _unknown(self, name: str) -> str:
        if name in self._broken:
            return f"{self.kind} {name!r} of {self._broken[name]}; mend or uninstall that package"
        near = get_close_matches(name.lower(), self._entries, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return f"{self.kind} must be one of {', '.join(self._entries)}; got {name!r} instead{hint}"


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _made(entry: object) -> Any:
    """What an entry builds or computes with."""
    return next((value for name in ("build", "load", "score") if (value := getattr(entry, name, None))), entry)


def _top_module(made: Any) -> str:
    return str(getattr(made, "__module__", "")).partition(".")[0]


def _code_digest(made: Any) -> str:
    """A short digest of the file, or of all files of the package, that defines something."""
    package = sys.modules.get(_top_module(made))
    folders = [Path(folder) for folder in getattr(package, "__path__", ())]
    try:
        files = sorted(path for folder in folders for path in folder.rglob("*.py"))
        files = files or [Path(inspect.getsourcefile(inspect.unwrap(made)) or "")]
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in files))
    except (TypeError, OSError):
        return "unknown"
    return digest.hexdigest()[:12]
