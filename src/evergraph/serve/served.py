"""The model that is served: loaded once, and again between two requests when its checksum on disk has changed."""

import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from evergraph.errors import ConfigError, StoreError
from evergraph.estimator.classifier import ContinualClassifier
from evergraph.models import read_checksum
from evergraph.models.manifest import MANIFEST

ATTEMPTS = 20
Seen = tuple[int, int, int]


@dataclass(frozen=True)
class Loaded:
    """A classifier in memory. checksum: of its folder, "" for folders of earlier versions; loads: how often so far.

    remark: why the model that is on disk now is not the one that answers; None where it is.
    """

    name: str
    classifier: ContinualClassifier
    checksum: str
    loads: int = 1
    remark: str | None = None


class Served:
    """One model folder. Nothing is written to it, and no lock is taken: a writer swaps models as a whole."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self._lock = threading.Lock()
        self._seen = self._look()
        self._loaded = self._load(1)

    def current(self) -> Loaded:
        """The model as it is on disk; where that cannot be read, the last one that could, with a remark."""
        with self._lock:
            seen = self._look()
            if seen is None or seen != self._seen or self._loaded.remark:
                self._loaded = self._followed()
                self._seen = seen
            return self._loaded

    def _followed(self) -> Loaded:
        try:
            if read_checksum(self.folder) == self._loaded.checksum:
                return replace(self._loaded, remark=None)
            return self._load(self._loaded.loads + 1)
        except (StoreError, ConfigError) as error:
            return replace(self._loaded, remark=f"the model on disk is not used, the last one answers: {error}")

    def _load(self, loads: int) -> Loaded:
        """The classifier in the folder, with the checksum of the very model that was read."""
        for _ in range(ATTEMPTS):
            before = read_checksum(self.folder)
            classifier = ContinualClassifier.load(self.folder)
            if read_checksum(self.folder) == before:
                break
        else:
            raise StoreError(f"{self.folder} must stay as it is while it is read, got new models all the time")
        if not classifier.__sklearn_is_fitted__():
            raise StoreError(
                f"a model that has learned something is wanted, got {self.folder}, which has not; learn first"
            )
        return Loaded(self.folder.resolve().name, classifier, before, loads)

    def _look(self) -> Seen | None:
        """What tells a new manifest from the last one without reading it; None where there is none."""
        try:
            found = os.stat(self.folder / MANIFEST)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns
