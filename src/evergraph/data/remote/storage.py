"""Files at an address, read through fsspec; whatever goes wrong there is said in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from evergraph.data.remote.address import checked, without_secrets
from evergraph.errors import ConfigError, DataError, StoreError

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
        self._over_http = "http" in self._system.protocol

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
        with self._in_one_sentence(name):
            opened, ahead = self._opened(f"{self._root}/{name}", start)
            with opened as file:
                while ahead:
                    ahead -= len(file.read(min(ahead, CHUNK))) or ahead
                while chunk := file.read(CHUNK):
                    yield chunk

    def _opened(self, path: str, start: int) -> tuple[Any, int]:
        """A file, and how many of its bytes are to be read over: not every server sends a part of a file."""
        try:
            if start or not self._over_http:
                file = self._system.open(path, block_size=CHUNK)
                file.seek(start)
                file.read(1)  # a server without parts complains only now
                file.seek(start)
                return file, 0
        except ValueError:
            pass
        return self._system.open(path, block_size=0 if self._over_http else CHUNK), start

    def write(self, name: str, content: bytes) -> None:
        """Make a file, or put another in its place."""
        try:
            self._system.makedirs(self._root, exist_ok=True)
            self._system.pipe_file(f"{self._root}/{name}", content)
        except Exception as error:
            raise StoreError(f"{self.address} cannot be written: {_why(error)}; choose another address") from None

    def remove(self) -> None:
        """Remove the folder with its files, as far as that can be done."""
        with suppress(Exception):  # nothing depends on it, and the address may be out of reach by now
            self._system.rm(self._root, recursive=True)

    @contextmanager
    def _in_one_sentence(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # every protocol has errors of its own
            cause = error.__cause__  # over HTTP, fsspec calls whatever went wrong a missing file
            if isinstance(error, FileNotFoundError) and _is_missing(cause):
                raise DataError(
                    f"a graph folder is wanted, got {self.address} without {name}; check the address, or make one: "
                    "evergraph data convert"
                ) from None
            raise DataError(
                f"{self.address}/{name} cannot be read: {_why(cause or error)}; try again later"
            ) from None


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


def _is_missing(cause: BaseException | None) -> bool:
    """Whether a file that is said to be missing is, and no server failed to answer."""
    return cause is None or getattr(cause, "status", None) == 404 or isinstance(cause, FileNotFoundError)


def _why(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return without_secrets(text)[:200]
