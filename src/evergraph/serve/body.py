"""The body of a request: JSON in UTF-8, without NaN, repeated keys or deep nesting; anything else is refused."""

import json
import re
from collections.abc import Mapping
from typing import Any

from evergraph.serve.limits import Refusal

DEEPEST = 6
"""Lists and objects inside each other."""
BAD = 400
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
    try:
        values = json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
        if _HALF.search(body):  # half of a character that UTF-8 cannot write
            json.dumps(values, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        why = " ".join(str(error).split())[:120]
        raise Refusal(BAD, f"JSON in UTF-8 is wanted, got something else instead ({why})") from None
    _forbid_deep(values)
    return values


def _forbid_deep(values: Any) -> None:
    """Refusal where lists and objects are more than DEEPEST inside each other, found level by level."""
    level = [values] if isinstance(values, list | dict) else []
    for _ in range(DEEPEST):
        inner = (part for whole in level for part in (whole.values() if isinstance(whole, dict) else whole))
        level = [part for part in inner if isinstance(part, list | dict)]
    if level:
        raise _too_deep()


def _too_deep() -> Refusal:
    return Refusal(BAD, f"at most {DEEPEST} lists and objects inside each other are wanted, got more")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key that is repeated")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} in the place of a number")
