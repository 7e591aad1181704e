"""Addresses of graph folders: what they look like, and how they are shown, which is without secrets."""

import re

from evergraph.errors import ConfigError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(://|::)")
_FILE = re.compile(r"(file|local)://")
_PASSWORD = re.compile(r"(://)[^/\s]*:[^/\s]*@")
_QUERY = re.compile(r"(://[^\s'\"?#]*)[?#][^\s'\")]*")


def has_protocol(text: object) -> bool:
    """Whether fsspec is asked for: by a protocol, also file://."""
    return isinstance(text, str) and _ADDRESS.match(text) is not None


def is_address(text: object) -> bool:
    """Whether this names a folder on storage that fsspec reaches; file:// names a path."""
    return isinstance(text, str) and has_protocol(text) and _FILE.match(text) is None


def local_path(text: str) -> str:
    """A path as it is, and that of a file:// address."""
    return _FILE.sub("", text, count=1) if _FILE.match(text) else text


def without_secrets(text: str) -> str:
    """Text in which no address has a password or a query, where tokens are."""
    return _QUERY.sub(r"\1", _PASSWORD.sub(r"\1", text))


def checked(address: str) -> str:
    """An address without the separator at its end; ConfigError where it has what must not get into records."""
    shown = without_secrets(address)
    if shown != address:
        raise ConfigError(
            f"the address of a folder without password, ? and # is wanted, got more than {shown}; give secrets to "
            "fsspec by its own configuration or environment, since addresses are stored with results"
        )
    return address.rstrip("/") if not address.endswith("://") else address
