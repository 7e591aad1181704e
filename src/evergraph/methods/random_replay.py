"""Random replay: uniformly drawn nodes of each class with their induced subgraph; the bar for every selection."""

from pydantic import Field

from evergraph.methods.base import MethodEntry
from evergraph.methods.ftf_er import FTFER, FeatureScore, FTFERConfig, TopologyScore
from evergraph.replay.storage import StorageConfig
from evergraph.training.balance import BalanceConfig
from evergraph.training.net import Net


class RandomReplayConfig(StorageConfig, BalanceConfig):
    """How many nodes are kept, how, and their weight in the loss."""

    budget: int = Field(60, ge=1)
    """Nodes kept of each class."""
    replay_weight: float = Field(1.0, ge=0)
    """λ of loss + λ · replay loss."""


class RandomReplay(FTFER):
    """FTF-ER with one random score: the highest of independent uniform numbers are a draw without replacement."""

    def __init__(self, net: Net, config: RandomReplayConfig):
        scores = {"feature_score": FeatureScore.RANDOM, "topology_score": TopologyScore.NONE}
        super().__init__(net, FTFERConfig(**config.model_dump(), **scores))


ENTRY = MethodEntry("replays random nodes", "Chaudhry et al., 2019", RandomReplayConfig, RandomReplay)
