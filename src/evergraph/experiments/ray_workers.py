"""Workers of a Ray cluster for one computation: a part whose process dies is done again, and nothing else."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evergraph.data.on_disk.shared import forget_brought
from evergraph.data.remote.address import checked
from evergraph.errors import ConfigError, RunError
from evergraph.experiments.ray_cluster import ray_cluster
from evergraph.workers import Item, Result, Workers, working

DEATHS = 3
"""How often the process of one part may die."""


class RayWorkers(Workers):
    """Tasks of one CPU each on the cluster that this process is connected to."""

    def __init__(self, folder: Path | str):
        import ray

        self.folder = folder
        self.count = int(ray.cluster_resources().get("CPU", 0))
        if not self.count:
            raise ConfigError("a Ray cluster with CPUs is wanted, got one without; add a node that has some")
        self._do = ray.remote(num_cpus=1, max_retries=DEATHS)(_done)
        self._add = ray.remote(num_cpus=1, max_retries=DEATHS)(_added)

    def map(self, function: Callable[[Any, Item], Result], common: Any, items: Sequence[Item]) -> list[Result]:
        found: list[Result] = self._values(self._sent(function, common, items))
        return found

    def total(
        self,
        function: Callable[[Any, Item], Result],
        add: Callable[[Result, Result], Result],
        common: Any,
        items: Sequence[Item],
    ) -> Result:
        parts = self._sent(function, common, items)
        while len(parts) > 1:
            pairs = [parts[at : at + 2] for at in range(0, len(parts), 2)]
            parts = [self._add.remote(add, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        found: Result = self._values(parts)[0]
        return found

    def _sent(self, function: Callable[[Any, Item], Result], common: Any, items: Sequence[Item]) -> list[Any]:
        import ray

        sent = ray.put(common)
        return [self._do.remote(function, sent, item) for item in items]

    def _values(self, parts: list[Any]) -> Any:
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            return ray.get(parts)
        except RayTaskError as error:
            raise error.cause from None  # what went wrong in the part itself
        except RayError as error:
            raise RunError(
                f"a part of the computation is wanted from the Ray cluster, got none after its process died "
                f"{DEATHS + 1} times ({type(error).__name__}); look into Ray's logs"
            ) from None


@contextmanager
def ray_workers(address: str | None, cpus: int, folder: Path | str) -> Iterator[RayWorkers]:
    """Let a Ray cluster do parts of what is computed inside: one at an address, or a new local one of so many CPUs.

    folder: for what workers share, which every node reaches by the same path or address.
    """
    shared = folder.resolve() if isinstance(folder, Path) else checked(folder)
    with ray_cluster(address, cpus), working(workers := RayWorkers(shared)):
        try:
            yield workers
        finally:
            forget_brought()


def _done(function: Callable[[Any, Any], Any], common: Any, item: Any) -> Any:
    import torch

    torch.set_num_threads(1)
    return function(common, item)


def _added(add: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    return add(first, second)
