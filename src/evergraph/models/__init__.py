"""Model folders: a stored model is one folder, replaced as a whole, checksummed, without pickle."""

from evergraph.models.folder import ModelFolder, locked_model, read_checksum, read_model, write_model
from evergraph.models.model import Model

__all__ = ["Model", "ModelFolder", "locked_model", "read_checksum", "read_model", "write_model"]
