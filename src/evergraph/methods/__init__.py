"""The table of methods; each is one file."""

from evergraph.methods import (
    analytic,
    cat,
    er_gnn,
    ewc,
    finetune,
    ftf_er,
    gem,
    joint,
    lwf,
    mas,
    ncm,
    random_replay,
    slda,
    ssm,
    tem,
    twp,
)
from evergraph.methods.base import Kept, Learner, MethodEntry, NoSettings
from evergraph.registry import Registry

__all__ = ["METHODS", "Kept", "Learner", "MethodEntry", "NoSettings"]

METHODS: Registry[MethodEntry] = Registry(
    "method",
    {
        "finetune": finetune.ENTRY,
        "joint": joint.ENTRY,
        "ewc": ewc.ENTRY,
        "mas": mas.ENTRY,
        "lwf": lwf.ENTRY,
        "gem": gem.ENTRY,
        "twp": twp.ENTRY,
        "er-gnn-mf": er_gnn.MEAN_FEATURE,
        "er-gnn-cm": er_gnn.COVERAGE,
        "random-replay": random_replay.ENTRY,
        "ssm": ssm.DEGREE,
        "ssm-random": ssm.RANDOM,
        "tem": tem.ENTRY,
        "cat": cat.ENTRY,
        "ftf-er-det": ftf_er.DETERMINISTIC,
        "ftf-er-prob": ftf_er.PROBABILISTIC,
        "ncm": ncm.ENTRY,
        "slda": slda.ENTRY,
        "analytic": analytic.ENTRY,
        "analytic-small": analytic.SMALL,
    },
    entry_type=MethodEntry,
    plugins="evergraph.methods",
)
"""Methods by name; `METHODS[name].build` makes a learner."""
