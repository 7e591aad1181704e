"""Keys of nodes and checksums of what was learned of them: 64 bits each, nothing can be read back from them."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.matrices import Features
from evergraph.splitmix import mixed

LONGEST = 20
"""Signs of a whole number that fits 64 bits, at most."""
SALT = np.uint64(0x2545F4914F6CDD1D)


def node_keys(ids: NDArray[Any]) -> NDArray[np.int64]:
    """A key for each id; the same for 12 and "12", which a person's files mix up."""
    if ids.dtype.kind in "iu":
        return mixed(ids.astype(np.int64).view(np.uint64)).view(np.int64)
    return np.fromiter((_text_key(str(node)) for node in ids.tolist()), dtype=np.int64, count=len(ids))


def _text_key(text: str) -> int:
    whole = len(text) <= LONGEST and text.removeprefix("-").isdecimal() and str(int(text)) == text
    if whole and abs(int(text)) < 2**63:
        return int(node_keys(np.array([int(text)]))[0])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


@dataclass(frozen=True)
class Origin:
    """A batch as the keys of its nodes without ids have it.

    number: in the model that learned it; features: their fingerprint, None where ids name the nodes or where an
    earlier version has learned the batch.
    """

    number: int
    features: str | None = None


def fingerprint(features: Features) -> str:
    """A checksum of all features of a batch."""
    content = blake2b(digest_size=8)
    sparse_parts = [] if isinstance(features, np.ndarray) else [features.data, features.indices, features.indptr]
    for part in sparse_parts or [features]:
        content.update(np.ascontiguousarray(part).data)
    return content.hexdigest()


def row_keys(batch: int, features: str, count: int) -> NDArray[np.int64]:
    """Keys of nodes without ids: which batch they came in, the fingerprint of its features, and their rows there.

    The features tell the batches of two models apart, which are both called 0, 1 and so on.
    """
    came_in = np.uint64(batch + 1) * SALT ^ np.frombuffer(bytes.fromhex(features), dtype="<u8")[0]
    return mixed(mixed(np.arange(count, dtype=np.uint64)) ^ came_in).view(np.int64)


def chances(keys: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """A number from 0 to 1 for each node that depends on its key and the seed alone."""
    words = mixed(keys.view(np.uint64) ^ (np.uint64(seed + 1) * SALT))
    return np.asarray((words >> np.uint64(11)) / float(2**53))


def checksums(inputs: NDArray[Any]) -> NDArray[np.uint64]:
    """A checksum of each row of what a learner takes in of a node."""
    flat = np.ascontiguousarray(inputs).reshape(len(inputs), -1).view(np.uint8)
    padded = np.pad(flat, ((0, 0), (0, -flat.shape[1] % 8))).view(np.uint64)
    factors = mixed(np.arange(padded.shape[1], dtype=np.uint64)) | np.uint64(1)
    return mixed((padded * factors).sum(axis=1, dtype=np.uint64))
