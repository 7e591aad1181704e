"""An explicit table of named things: duplicates raise, an unknown name lists the choices and the nearest."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TypeVar

from evergraph.errors import ConfigError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Maps names to entries of one kind, in the order in which they were added."""

    def __init__(self, kind: str, entries: Mapping[str, T] | None = None) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}
        for name, entry in (entries or {}).items():
            self.add(name, entry)

    def add(self, name: str, entry: T) -> T:
        if self._find(name) is not None:
            raise ConfigError(f"{self.kind} {name!r} is registered already; choose another name for the new one")
        self._entries[name] = entry
        return entry

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
        near = get_close_matches(name.lower(), self._entries, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return f"{self.kind} must be one of {', '.join(self._entries)}; got {name!r} instead{hint}"


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
