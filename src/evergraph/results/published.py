"""Published values to show beside ours."""

from collections.abc import Callable
from dataclasses import dataclass

from evergraph.results.groups import Group, Stat


@dataclass(frozen=True)
class PublishedResults:
    """AA and AF in percent from one publication.

    source: authors, venue and year; note: a sentence about where the values come from.
    lookup: method, data set → AA and AF, or None.
    """

    source: str
    note: str
    lookup: Callable[[str, str], tuple[Stat, Stat] | None]

    def of(self, group: Group) -> tuple[Stat, Stat] | None:
        """The values for a group's method and data set; None for another stream than that of the publication."""
        if group.first.stream_traits:
            return None
        return self.lookup(group.method, str(group.setup["dataset.name"]))
