"""Files at an address, read through fsspec; whatever goes wrong there is said in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evergraph.data.remote.address import checked, without_secrets
from evergraph.errors import ConfigError, DataError

CHUNK = 1 << 24
"""Bytes that are read together."""
CONNECT_SECONDS, SILENT_SECONDS = 30, 300
"""After which an HTTP server that says nothing is given up; there is no limit for a whole file."""


class RemoteFolder:
    """The files in a folder at an address."""

    def __init__(self, address: str):
        self.address = checked(address)
        self._system, root = _file_system(self.address)
        self._root = root.rstrip("/")

    def refresh(self) -> None:
        """Forget what is known of the files there."""
        self._system.invalidate_cache()

    def read(self, name: str, most: int) -> bytes:
        """A small file as a whole; of a larger one, a little more than `most` bytes."""
        found = b""
        for chunk in self.chunks(name):
            found += chunk
            if len(found) > most:
                break
        return found

    def chunks(self, name: str, start: int = 0) -> Iterator[bytes]:
        """The bytes of a file from `start` on, some at a time."""
        with self._in_one_sentence(name), self._system.open(f"{self._root}/{name}", block_size=CHUNK) as file:
            ahead = _skipped(file, start)
            while ahead:
                ahead -= len(file.read(min(ahead, CHUNK))) or ahead
            while chunk := file.read(CHUNK):
                yield chunk

    @contextmanager
    def _in_one_sentence(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise DataError(
                f"a graph folder is wanted, got {self.address} without {name}; check the address, or make one: "
                "evergraph data convert"
            ) from None
        except Exception as error:  # every protocol has errors of its own
            raise DataError(f"{self.address}/{name} cannot be read: {_why(error)}; try again later") from None


def _skipped(file: Any, start: int) -> int:
    """Go to a place in a file, and say how many bytes are left to be read over: a stream cannot be gone through."""
    try:
        file.seek(start)
    except (ValueError, OSError):
        return start
    return 0


def _file_system(address: str) -> tuple[Any, str]:
    """What reads files of this kind of address, and the address in its own words."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ConfigError(
            f'{address} needs fsspec, got a Python without it; install it with: pip install "evergraph[remote]"'
        ) from None
    try:
        system, root = url_to_fs(address, **_options(address))
    except ImportError as error:
        raise ConfigError(
            f"{address} needs a package for its protocol, got a Python without it: {_why(error)}"
        ) from None
    except ValueError as error:
        raise ConfigError(f"an address that fsspec knows is wanted, got {address}: {_why(error)}") from None
    except Exception as error:  # some connect at once, each with errors of its own
        raise DataError(f"{address} cannot be reached: {_why(error)}; try again later") from None
    return system, root


def _options(address: str) -> dict[str, Any]:
    """For HTTP a limit for silence in place of the one for a whole file, which large files would not meet."""
    protocol = address.rpartition("::")[2].partition("://")[0]
    if protocol not in ("http", "https"):
        return {}
    import aiohttp
    from fsspec.config import conf

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENT_SECONDS)
    given = {**conf.get("http", {}).get("client_kwargs", {}), **conf.get("https", {}).get("client_kwargs", {})}
    return {protocol: {"client_kwargs": {"timeout": timeout, **given}}}


def _why(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return without_secrets(text)[:200]
