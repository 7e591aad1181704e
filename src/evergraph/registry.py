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
        if name in self._entries:
            raise ConfigError(f"{self.kind} {name!r} is registered already; choose another name for the new one")
        self._entries[name] = entry
        return entry

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            raise ConfigError(self._unknown(name))
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, self._entries, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return f"{self.kind} must be one of {', '.join(self._entries)}; got {name!r} instead{hint}"
