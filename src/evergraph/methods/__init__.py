"""The table of methods; each is one file."""

from evergraph.methods import finetune, ftf_er, joint
from evergraph.methods.base import Learner, Memory, MethodEntry
from evergraph.registry import Registry

__all__ = ["METHODS", "Learner", "Memory", "MethodEntry"]

METHODS: Registry[MethodEntry] = Registry(
    "method",
    {
        "finetune": finetune.ENTRY,
        "joint": joint.ENTRY,
        "ftf-er-det": ftf_er.DETERMINISTIC,
        "ftf-er-prob": ftf_er.PROBABILISTIC,
    },
)
