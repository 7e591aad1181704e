"""The body of a request: JSON in UTF-8, without NaN, repeated keys or deep nesting; anything else is refused."""

from collections.abc import Mapping
from typing import Any

from evergraph.parsing import TooDeep, strict_json
from evergraph.serve.limits import Refusal

DEEPEST = 6
"""Lists and objects inside each other."""
BAD = 400


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
        return strict_json(body, DEEPEST)
    except TooDeep as error:
        raise Refusal(BAD, str(error)) from None
    except ValueError as error:
        why = " ".join(str(error).split())[:120]
        raise Refusal(BAD, f"JSON in UTF-8 is wanted, got something else instead ({why})") from None
