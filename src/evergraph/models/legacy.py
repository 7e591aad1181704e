"""Folders that earlier classifiers saved: classifier.json beside one file of tensors.

Version 1 has state.safetensors; version 2 names it in classifier.json, with a part of its checksum in the name.
"""

import re
from hashlib import sha256
from pathlib import Path

from evergraph.budget import free_memory
from evergraph.errors import StoreError
from evergraph.limits import Refused, most_json_bytes, read_limited
from evergraph.models.manifest import strict_json
from evergraph.models.model import Model
from evergraph.models.tensors import tensors_from

OLD_MANIFEST = "classifier.json"
OLD_STATE = re.compile(r"state(-(?P<digest>[0-9a-f]{16}))?\.safetensors")
OLD_FILE = re.compile(rf"classifier\.json|{OLD_STATE.pattern}")


def read_old_model(folder: Path) -> Model:
    """The model in a folder of version 1 or 2; StoreError where it is none."""
    try:
        about = strict_json(read_limited(folder / OLD_MANIFEST, most_json_bytes(), inside=True))
    except (OSError, Refused, StoreError) as error:
        raise StoreError(f"the folder of a stored model is wanted, got {folder} instead ({error})") from None
    name = about.get("state", "state.safetensors") if isinstance(about, dict) else None
    match = OLD_STATE.fullmatch(name) if isinstance(name, str) else None
    if match is None or not isinstance(about, dict):
        raise StoreError(f"the folder of a stored model is wanted, got {folder} instead ({OLD_MANIFEST} is broken)")
    path = folder / match.group()
    try:
        if path.is_symlink():
            raise StoreError("a link is not followed")
        content = read_limited(path, free_memory() // 2, inside=True)
        tensors = tensors_from(content)
    except (OSError, Refused, StoreError) as error:
        raise StoreError(f"the state {path} cannot be read ({error}); save the model again") from None
    digest = match["digest"]
    if digest and not sha256(content).hexdigest().startswith(digest):
        raise StoreError(f"{path} must be as it was saved, got other bytes instead; save the model again")
    rest = {key: value for key, value in about.items() if key != "state"}
    return Model(rest, tensors, version=1 if digest is None else 2)
