"""What an address is, and that no secret gets out of one."""

import pytest

from evergraph.data.datasets import DatasetConfig, load_dataset
from evergraph.data.remote.address import checked, is_address, local_path, without_secrets
from evergraph.errors import ConfigError
from evergraph.runs.config import RunConfig


def test_addresses_are_told_from_paths() -> None:
    for text in ("s3://bucket/graph/", "memory://g", "https://host:1/a", "simplecache::s3://bucket/g"):
        assert is_address(text)
    for text in ("graph/", "/data/graph", "C:\\graph\\", "digits", "file:///data/graph/", "local:///x"):
        assert not is_address(text)
    assert local_path("file:///data/graph/") == "/data/graph/"
    assert local_path("graph/file://x") == "graph/file://x"


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:geheim@host/graph/",
        "https://ann:ge@heim@host/graph/",
        "s3://bucket/graph?token=geheim",
        "https://host/graph#geheim",
        "simplecache::ftp://ann:geheim@host/graph",
    ],
)
def test_secrets_are_refused_and_not_shown(address: str) -> None:
    with pytest.raises(ConfigError, match="without password") as refused:
        checked(address)
    assert "heim" not in str(refused.value)
    for call in (
        lambda: load_dataset(address),
        lambda: DatasetConfig(name=address),
        lambda: RunConfig.from_values({"dataset": {"name": address}}),
    ):
        with pytest.raises(ValueError, match="without password") as refused_elsewhere:
            call()
        if isinstance(refused_elsewhere.value, ConfigError):  # else pydantic's own, which no command shows
            assert "heim" not in str(refused_elsewhere.value)


def test_a_user_is_no_secret() -> None:
    assert checked("sftp://ann@host/graph/") == "sftp://ann@host/graph"


def test_errors_of_storage_are_shown_without_tokens() -> None:
    text = "403, url='https://ann:geheim@host/a?sig=geheim' (moved to s3://b/c?x=geheim)"
    assert without_secrets(text) == "403, url='https://host/a' (moved to s3://b/c)"
