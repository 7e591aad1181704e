"""The folder of this user for what was downloaded or computed and can be had again."""

import os
from pathlib import Path

CACHE_VARIABLE = "EVERGRAPH_CACHE"


def cache_dir() -> Path:
    """The folder in EVERGRAPH_CACHE, or the user's cache folder of the operating system."""
    import pooch

    return Path(os.environ.get(CACHE_VARIABLE) or pooch.os_cache("evergraph"))
