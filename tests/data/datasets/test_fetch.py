"""Where files are looked for; downloads from a real server on this host, with their hashes."""

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from evergraph.data.cache import cache_dir
from evergraph.data.datasets.entry import RemoteFile
from evergraph.data.datasets.fetch import locator
from evergraph.data.datasets.progress import DownloadBar
from evergraph.errors import DataError


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address under which it is served."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def offer(upstream: tuple[Path, str], content: bytes = b"numbers") -> RemoteFile:
    (upstream[0] / "g.npz").write_bytes(content)
    return RemoteFile("g.npz", upstream[1] + "g.npz")


def hashes() -> dict[str, str]:
    found: dict[str, str] = json.loads((cache_dir() / "downloads" / "hashes.json").read_text())
    return found


def test_a_data_folder_may_be_text(tmp_path: Path) -> None:
    (tmp_path / "g.npz").write_bytes(b"numbers")
    assert locator(str(tmp_path))(RemoteFile("g.npz", "")) == tmp_path / "g.npz"
    with pytest.raises(DataError, match=r"the data folder must exist, got .*none instead"):
        locator(str(tmp_path / "none"))


def test_folders_come_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / name for name in ("cache", "data", "argument")]
    monkeypatch.setenv("EVERGRAPH_DATA", str(folders[1]))
    for position, folder in enumerate(folders):
        folder.mkdir()
        (folder / "g.npz").write_text("x")
        locate = locator(folders[2] if position == 2 else None, download=False)
        assert locate(RemoteFile("g.npz", None)) == folder / "g.npz"


def test_a_download_is_recorded_and_not_repeated(upstream: tuple[Path, str]) -> None:
    file = offer(upstream)
    path = locator()(file)
    assert path.read_bytes() == b"numbers"
    assert hashes() == {file.url: hashlib.sha256(b"numbers").hexdigest()}
    (upstream[0] / "g.npz").unlink()
    assert locator()(file) == path
    assert locator(download=False)(file) == path
    assert sorted(one.name for one in path.parent.iterdir()) == ["g.npz", "hashes.json"]


def test_another_file_than_the_recorded_one_is_refused(upstream: tuple[Path, str]) -> None:
    file = offer(upstream)
    locator()(file).unlink()
    offer(upstream, b"other numbers")
    with pytest.raises(DataError, match=r"must have the sha256 .* got another file instead.*hashes.json"):
        locator()(file)


def test_a_damaged_copy_is_fetched_again_or_refused_offline(upstream: tuple[Path, str]) -> None:
    file = offer(upstream)
    path = locator()(file)
    path.write_bytes(b"rotten")
    with pytest.raises(DataError, match="must have the sha256"):
        locator(download=False)(file)
    assert locator()(file).read_bytes() == b"numbers"


def test_a_known_hash_is_checked_at_once(upstream: tuple[Path, str]) -> None:
    url = offer(upstream).url
    good = RemoteFile("g.npz", url, sha256=hashlib.sha256(b"numbers").hexdigest())
    with pytest.raises(DataError, match="must have the sha256 000"):
        locator()(RemoteFile("g.npz", url, sha256="0" * 64))
    assert locator()(good).read_bytes() == b"numbers"


def test_own_files_are_not_checked(upstream: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "g.npz").write_bytes(b"my own")
    file = RemoteFile("g.npz", offer(upstream).url, sha256="0" * 64)
    assert locator(tmp_path)(file).read_bytes() == b"my own"


def test_a_failed_download_says_what_to_put_where(upstream: tuple[Path, str], tmp_path: Path) -> None:
    missing = RemoteFile("g.npz", upstream[1] + "nowhere.npz")
    with pytest.raises(DataError, match=r"g.npz is needed.*nowhere.npz failed \(404.*put it at") as caught:
        locator(tmp_path)(missing)
    assert str(tmp_path / "g.npz") in str(caught.value)
    with pytest.raises(
        DataError, match=r"failed \(no connection\); put it into a folder and name that in EVERGRAPH_DATA"
    ):
        locator()(RemoteFile("g.npz", "http://127.0.0.1:9/g.npz"))


def test_a_member_of_a_zip_archive_is_unpacked(upstream: tuple[Path, str]) -> None:
    with zipfile.ZipFile(upstream[0] / "all.zip", "w") as archive:
        archive.writestr("raw/a.txt", "A")
    file = RemoteFile("mine/raw", upstream[1] + "all.zip", inside="raw")
    assert (locator()(file) / "a.txt").read_text() == "A"
    assert locator(download=False)(file) == locator()(file)
    with pytest.raises(DataError, match="must hold other, got none"):
        locator()(RemoteFile("mine/other", file.url, inside="other"))


def test_a_broken_zip_archive_leaves_nothing_behind(upstream: tuple[Path, str]) -> None:
    (upstream[0] / "all.zip").write_bytes(b"PK no")
    with pytest.raises(DataError, match="must be a zip archive"):
        locator()(RemoteFile("mine/raw", upstream[1] + "all.zip", inside="raw"))
    assert sorted(path.name for path in (cache_dir() / "downloads").iterdir()) == ["all.zip", "hashes.json"]


def test_broken_records_are_one_sentence(upstream: tuple[Path, str]) -> None:
    file = offer(upstream)
    path = locator()(file)
    (path.parent / "hashes.json").write_text("[")
    with pytest.raises(DataError, match=r"hashes.json must hold the recorded hashes as JSON"):
        locator()(file)


def test_progress_goes_to_stderr_only_on_request(
    upstream: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = offer(upstream)
    locator()(file).unlink()
    assert capsys.readouterr() == ("", "")
    locator(progress=True)(file)
    out, err = capsys.readouterr()
    assert out == ""
    assert "g.npz" in err


def test_the_bar_ends_full() -> None:
    text = io.StringIO()
    bar = DownloadBar("g.npz", Console(file=text, width=100))
    bar.total = 2000
    bar.update(1024)
    bar.reset()
    bar.update(2000)
    bar.close()
    assert bar.total == 2000
    assert "2.0/2.0 kB" in text.getvalue()
