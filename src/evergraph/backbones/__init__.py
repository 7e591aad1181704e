"""The table of backbones; each is one file with a module and its settings."""

from evergraph.backbones import gat, gcn, gin
from evergraph.backbones.base import Backbone, BackboneEntry, CustomBackbone
from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures, Norm, model_input
from evergraph.registry import Registry

__all__ = [
    "BACKBONES",
    "Backbone",
    "BackboneEntry",
    "CustomBackbone",
    "MessageGraph",
    "ModelInput",
    "NodeFeatures",
    "Norm",
    "model_input",
]

BACKBONES: Registry[BackboneEntry] = Registry(
    "backbone",
    {"gcn": gcn.ENTRY, "gat": gat.ENTRY, "gin": gin.ENTRY},
    entry_type=BackboneEntry,
    plugins="evergraph.backbones",
)
"""Backbones by name; `BACKBONES[name].build` makes an untrained network."""
