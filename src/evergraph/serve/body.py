"""The body of a request: JSON in UTF-8, without NaN, repeated keys or deep nesting; anything else is refused."""

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from evergraph.serve.limits import Refusal

DEEPEST = 6
"""Lists and objects inside each other."""
BAD = 400
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def check_headers(headers: Mapping[str, str]) -> None:
    """Refusal for a body that is said to be something else than JSON as it is."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        came = kind[:60] or "none"
        raise Refusal(
            415, f"the content type application/json is wanted, got {came} instead; name it in the header"
        )
    coding = headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise Refusal(415, f"a body that is not compressed is wanted, got {coding[:60]} instead; send it as it is")


def parse_json(body: bytes) -> Any:
    """The values in a body; Refusal for anything but strict JSON."""
    if depth(body) > DEEPEST:
        raise Refusal(
            BAD, f"at most {DEEPEST} lists and objects inside each other are wanted, got more; flatten them"
        )
    try:
        values = json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
        if _HALF.search(body):  # half of a character that UTF-8 cannot write
            json.dumps(values, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:120]
        raise Refusal(BAD, f"JSON in UTF-8 is wanted, got something else instead ({why})") from None
    return values


def depth(body: bytes) -> int:
    """How deep lists and objects are nested, whether or not they are closed."""
    steps = _STEP[np.frombuffer(_TEXT.sub(b"", body), dtype=np.uint8)]
    return int(np.cumsum(steps, dtype=np.int64).max(initial=0))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key that is repeated")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} in the place of a number")
