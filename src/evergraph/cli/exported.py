"""What bench takes from the file that it exports to: runs that are recorded there are not done again."""

from collections.abc import Sequence
from pathlib import Path

from evergraph.cli.options import complete_settings
from evergraph.data.datasets import is_path, source_digest
from evergraph.errors import ConfigError, StoreError
from evergraph.results.records import SmallRecord, read_records
from evergraph.runs.config import RunConfig


def exported_runs(file: Path | None, configs: Sequence[RunConfig]) -> dict[RunConfig, SmallRecord]:
    """The records in a file of an experiment's runs; StoreError if it holds others, which would be lost.

    A run of a graph file that holds other data now is to be done again, and so is one with a plug-in, whose code no
    record names.
    """
    if file is None or not file.exists():
        return {}
    if not file.is_file():
        raise StoreError(f"a JSON file is wanted for --export, got {file} instead, which is no file")
    found = {_config(record): record for record in read_records(file, complete_settings)}
    others = [config for config in found if config not in configs]
    if others:
        came = "settings that are not understood" if others[0] is None else others[0].label()
        raise StoreError(
            f"{file} is written anew, so it may only hold runs of this experiment, got {len(others)} others "
            f"instead ({came}); name another file with --export, or delete this one"
        )
    known = {config: record for config, record in found.items() if config is not None}
    files = {config.dataset.model_dump_json(): config.dataset for config in known if is_path(config.dataset.name)}
    sources = {key: source_digest(dataset) for key, dataset in files.items()}  # each is read once
    return {
        config: record
        for config, record in known.items()
        if record.data.source == sources.get(config.dataset.model_dump_json()) and not config.plugin_sources()
    }


def _config(record: SmallRecord) -> RunConfig | None:
    try:
        return RunConfig.from_values(record.config)
    except ConfigError:
        return None
