"""What one request may ask for, and the refusals that say so."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """bytes: of a request's body; seconds: to send it, and again to answer it; waiting: predictions at a time.

    held: bytes of all bodies together that are being sent or wait; one alone is never too large for that.
    """

    bytes: int = 16 * 2**20
    nodes: int = 100_000
    edges: int = 1_000_000
    seconds: float = 30.0
    waiting: int = 32
    held: int = 256 * 2**20


class Refusal(Exception):
    """A request that is not answered: the HTTP status, and why in one sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
