"""Where a graph is on this disk, and how another machine gets it."""

from dataclasses import dataclass
from pathlib import Path

from evergraph.data.remote.address import is_address, local_path


@dataclass(frozen=True)
class Place:
    """The path of a graph file or graph folder here; where it came from an address, that and its content."""

    path: Path
    address: str | None = None
    checksum: str | None = None

    def here(self) -> Path:
        """The path on this machine, which may be another one than that on which this was made."""
        if self.address is None:
            return self.path
        from evergraph.data.remote.fetching import fetched

        return fetched(self.address, self.checksum)[0]


def graph_place(name: str | Path, *, progress: bool = False) -> Place:
    """Where a graph is that a person names: by its path, or by the address of a folder, which is brought here."""
    if isinstance(name, Path) or not is_address(name):
        return Place(Path(local_path(str(name))))
    from evergraph.data.remote.fetching import fetched

    path, checksum = fetched(name, progress=progress)
    return Place(path, name, checksum)
