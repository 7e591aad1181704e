"""What is taken from strangers: how much, how deep, and of what kind; docs/security.md has the reasons.

Sizes are relative to the memory that is free wherever an honest file may be large.
"""

import os
import stat
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TextIO

from evergraph.budget import free_memory

DEEPEST = 64
"""Tables and lists inside each other, in JSON and TOML; ours have fewer than 12."""
MOST_SETTINGS_BYTES = 1 << 22
"""Of a TOML file, or of a file of ids or settings that people write."""
MOST_JSON_BYTES = 1 << 28
JSON_GROWTH = 32
"""How many times its bytes JSON may take as Python objects: `[],` is three bytes and becomes 64."""
READ_AT_ONCE = 1 << 20
MOST_LINE = 1 << 26
"""Characters of a line in a CSV file."""
MOST_COLUMNS = 100_000
"""Of a table."""
MOST_RUNS = 100_000
"""Of an experiment."""


class Refused(ValueError):
    """What came is larger, deeper or of another kind than is taken; the reason as a part of a sentence."""


def read_limited(path: Path, most: int, *, inside: bool = False) -> bytes:
    """The bytes of a file, at most so many; Refused for more, and OSError as usual.

    inside: whether the file lies in a folder that may be a stranger's: then it must be a regular file, because a
    pipe would be waited for, and a device never ends. A file that a person named may be a pipe.
    """
    with open(path, "rb", opener=_opened_regular if inside else None) as file:
        found = _read(file, most + 1)
    if len(found) > most:
        raise Refused(f"at most {most:,} bytes are wanted, got more")
    return found


def _read(file: BinaryIO, most: int) -> bytes:
    """What a file holds, at most so many bytes; a single read takes the memory of so many, however few come."""
    found = BytesIO()
    while found.tell() < most and (block := file.read(min(most - found.tell(), READ_AT_ONCE))):
        found.write(block)
    return found.getvalue()


def _opened_regular(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Refused("a plain file is wanted, got something else")
    return descriptor


def is_plain(path: Path) -> bool:
    """Whether this is a regular file, or a link to one."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def most_json_bytes() -> int:
    """How large a JSON file may be for what it becomes to fit into the memory that is free."""
    return min(MOST_JSON_BYTES, free_memory() // JSON_GROWTH)


def forbid_more_than_memory(needed: int) -> None:
    """Refused where so many bytes, and a copy of them, do not fit into the memory that is free."""
    free = free_memory()
    if 2 * needed > free:
        raise Refused(f"{_size(needed)} and a copy of them must fit into memory, got {_size(free)} that are free")


def _size(count: int) -> str:
    return f"{count / 1e9:.3g} GB" if count >= 10**8 else f"{count / 1e6:.3g} MB"


class LimitedLines:
    """The lines of a text, one after the other; Refused for a line of more than MOST_LINE characters.

    characters: how many there were so far.
    """

    def __init__(self, stream: TextIO, most: int | None = None):
        self.stream, self.most, self.characters = stream, most, 0

    def __iter__(self) -> "LimitedLines":
        return self

    def __next__(self) -> str:
        line = self.stream.readline(MOST_LINE + 1)
        if not line:
            raise StopIteration
        self.characters += len(line)
        if len(line) > MOST_LINE:
            raise Refused(f"lines of at most {MOST_LINE:,} characters are wanted, got a longer one")
        if self.most is not None and self.characters > self.most:
            raise Refused(f"at most {self.most:,} characters are wanted for the memory that is free, got more")
        return line
