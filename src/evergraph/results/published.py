"""Published values to show beside ours; the caller hands them in."""

from collections.abc import Callable
from dataclasses import dataclass

from evergraph.results.groups import Group, Stat


@dataclass(frozen=True)
class PublishedResults:
    """AA and AF in percent from one publication.

    source: authors, place and year.
    note: a sentence that says where the values stand there and what they are compared with.
    lookup: method, data set → AA and AF, None where nothing was published.
    """

    source: str
    note: str
    lookup: Callable[[str, str], tuple[Stat, Stat] | None]

    def of(self, group: Group) -> tuple[Stat, Stat] | None:
        """The published AA and AF of a group's method on its data set."""
        return self.lookup(group.method, str(group.setup["dataset.name"]))
