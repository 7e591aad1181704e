"""NCM against distances to the class means."""

import numpy as np

from evergraph.data.stream import TaskStream, learner_view
from evergraph.methods.ncm import NearestMean
from evergraph.methods.statistics_learner import MapConfig
from evergraph.runs.build import make_net
from evergraph.watch import Watch
from helpers import run_config


def test_the_class_of_the_nearest_mean_wins(digits_stream: TaskStream) -> None:
    learner = NearestMean(make_net(run_config(), 64), MapConfig(width=64))
    views = [learner_view(task) for task in digits_stream]
    for view in views:
        learner.learn(view, (), Watch())
    codes = np.concatenate([learner.features(view.graph, view.train)[0] for view in views]).astype(np.float64)
    labels = np.concatenate([view.train_labels for view in views])
    means = np.stack([codes[labels == label].mean(axis=0) for label in range(10)])
    nearest = np.linalg.norm(codes[:, None] - means, axis=2).argmin(axis=1)
    found = np.concatenate([learner.logits(view.graph, view.train).argmax(dim=1).numpy() for view in views])
    assert (found == nearest).mean() > 0.999
    assert (found == labels).mean() > 0.85
    assert not any("gram" in name for name in learner.state())
