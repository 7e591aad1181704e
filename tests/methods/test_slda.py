"""SLDA against Mahalanobis distances to the class means."""

import numpy as np

from evergraph.data.stream import TaskStream, learner_view
from evergraph.methods.slda import Discriminant, SLDAConfig
from evergraph.runs.build import make_net
from evergraph.watch import Watch
from helpers import run_config


def test_it_is_the_dense_discriminant(digits_stream: TaskStream) -> None:
    learner = Discriminant(make_net(run_config(), 64), SLDAConfig(width=48, shrinkage=0.2))
    views = [learner_view(task) for task in digits_stream]
    for view in views:
        learner.learn(view, (), Watch())
    codes = np.concatenate([learner.features(view.graph, view.train)[0] for view in views]).astype(np.float64)
    labels = np.concatenate([view.train_labels for view in views])
    means = np.stack([codes[labels == label].mean(axis=0) for label in range(10)])
    scatter = np.cov((codes - means[labels]).T, bias=True)
    shrunk = 0.8 * scatter + 0.2 * np.trace(scatter) / 48 * np.eye(48)
    off = codes[:, None] - means
    distance = np.einsum("ncd,de,nce->nc", off, np.linalg.inv(shrunk), off)
    found = np.concatenate([learner.logits(view.graph, view.train).numpy() for view in views])
    assert (found.argmax(axis=1) == distance.argmin(axis=1)).mean() > 0.999
    assert (found.argmax(axis=1) == labels).mean() > 0.9
