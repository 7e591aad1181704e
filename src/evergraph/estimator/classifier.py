"""ContinualClassifier: learn a growing graph batch by batch, predict, forget, merge, save, load."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from evergraph.errors import ConfigError, DataError, GraphWarning
from evergraph.estimator.answer import Answer, answered, check_below
from evergraph.estimator.forgetting import Forgotten, forget
from evergraph.estimator.history import Step
from evergraph.estimator.learned import Learned
from evergraph.estimator.learning import learn
from evergraph.estimator.measuring import answer_as
from evergraph.estimator.merging import merge
from evergraph.estimator.names import spelled
from evergraph.estimator.plan import GIVE_LABELS
from evergraph.estimator.prepared import n_inputs
from evergraph.estimator.settings import Answers, run_config
from evergraph.estimator.stored import (
    KIND,
    arguments_of,
    as_saved,
    check_plugins,
    checked_about,
    learned_of,
    manifest_of,
    may_be_nan,
    tensors_of,
)
from evergraph.models import ModelFolder, read_model, write_model
from evergraph.models.folder import WAIT_SECONDS
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.tables import Batch, FeatureSchema, to_batch
from evergraph.tables.labels import Labels, labels_of
from evergraph.tables.pyg_data import scoring_options
from evergraph.watch import Watch

ANSWERING = ("reject", "reject_below")
"""The arguments that may change after learning."""


class ContinualClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns a graph that grows, batch by batch, in scikit-learn's manner.

    Args:
        method: Name of a method, as in `evergraph run`.
        backbone: Name of a backbone, for methods that train one.
        budget: Nodes kept of each class, for methods with a memory.
        epochs: Passes over the training nodes of a batch, for methods that train.
        random_state: Seed of everything that is drawn.
        holdout: The share of labelled nodes kept aside, for calibration and to see what is forgotten.
        reject: The share of known nodes that may get no answer, so that nodes unlike anything learned get none.
        reject_below: Or the probability below which there is no answer.
        scale: Numeric columns of tables get mean 0 and deviation 1, by the first batch.
        numbers: Columns that are numbers, whatever they look like.
        categories: Columns that are categories, whatever they look like.
        settings: All other settings, by section.
    """

    _learned: Learned
    _learned_with: dict[str, Any]
    """The arguments with which the first batch was learned."""
    _preset: FeatureSchema | None = None
    """The schema of another classifier, to begin with."""

    def __init__(
        self,
        method: str = "analytic",
        *,
        backbone: str = "gcn",
        budget: int | None = None,
        epochs: int | None = None,
        random_state: int = 0,
        holdout: float = 0.1,
        reject: float | None = None,
        reject_below: float | None = None,
        scale: bool = True,
        numbers: Collection[str] = (),
        categories: Collection[str] = (),
        settings: Mapping[str, Mapping[str, Any]] | None = None,
    ):
        self.method = method
        self.backbone = backbone
        self.budget = budget
        self.epochs = epochs
        self.random_state = random_state
        self.holdout = holdout
        self.reject = reject
        self.reject_below = reject_below
        self.scale = scale
        self.numbers = numbers
        self.categories = categories
        self.settings = settings

    # learning

    def fit(self, graph: Any, y: Labels | None = None, **options: Any) -> Self:
        """Forget everything and learn one batch; `partial_fit` goes on learning."""
        fresh = type(self)(**self.get_params(deep=False)).partial_fit(graph, y, **options)
        self._keep(fresh._learned)
        return self

    def partial_fit(
        self, graph: Any, y: Labels | None = None, *, watch: Watch | None = None, **options: Any
    ) -> Self:
        """Learn a batch: new classes, new nodes of old classes, or both; nodes without a label are context.

        graph: a Batch, (adjacency, features), frames (nodes, edges), a NetworkX graph or a PyG Data; `options` are
        those of `evergraph.tables`. y: labels; None, NaN, "" or -1 where there is none. Nodes with ids that were
        learned before are context, too. What goes wrong or is interrupted leaves the classifier as it was.
        """
        batch = to_batch(graph, y, **options)
        new = self._is_new
        learned = self._begun(batch) if new else self._unchanged
        learn(learned, batch, watch or Watch())
        if new:
            self._keep(learned)
        _warn(learned.history[-1].remarks)
        return self

    def _keep(self, learned: Learned) -> None:
        self._learned = learned
        self._learned_with = deepcopy(self._plain_params())

    @property
    def _is_new(self) -> bool:
        return "_learned" not in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return not self._is_new

    def _begun(self, batch: Batch) -> Learned:
        answers = self._answers()
        config = run_config(self.method, self.backbone, self.budget, self.epochs, self.random_state, self.settings)
        schema = self._preset or FeatureSchema.fit(
            batch, scale=self.scale, numbers=self.numbers, categories=self.categories
        )
        if not schema.n_features:
            raise DataError(
                "at least one column of features is wanted, got none; add columns that say something of the nodes "
                f"({'; '.join(schema.describe())})"
            )
        return Learned(config, schema, make_learner(config, n_inputs(schema)), answers)

    def _answers(self) -> Answers:
        return Answers.checked(self.holdout, self.random_state, self.reject, self.reject_below)

    def forget(self, graph: Any, nodes: ArrayLike, *, batch: int | None = None, **options: Any) -> Forgotten:
        """Take learned nodes, named by their ids, out again.

        Methods that keep sums do so exactly: no row was kept, so the graph must be given as it was when the nodes
        were learned; a checksum of each learned node makes sure of that. Other methods take the nodes out of what
        they replay. batch: for graphs without ids, which batch (from 0) the row numbers are of; the batches of a
        merged classifier follow those before.
        """
        given = to_batch(graph, **options)
        if given.named == (batch is not None):
            wanted = "no batch" if given.named else "the number of the batch (batch=0 for the first)"
            raise ConfigError(f"for this graph {wanted} is wanted, got batch={batch}")
        return forget(self._unchanged, given, nodes, batch)

    def sibling(self) -> "ContinualClassifier":
        """A classifier with the same settings and schema that has learned nothing, so that both can be merged."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._preset = self.schema_
        return fresh

    def merge(self, other: "ContinualClassifier") -> Self:
        """Learn what another classifier has learned: the same sums as one that saw both.

        For methods that keep sums, with the same settings, random_state and schema: begin one of them as the
        `sibling` of the other. No node may be in both. Batch k of the other is batch `n_batches_` + k here. What a
        method chooses by its data (`choices_`) may differ from what one that saw both has chosen.
        """
        if not isinstance(other, ContinualClassifier):
            raise ConfigError(f"another ContinualClassifier is wanted, got {type(other).__name__} instead")
        merge(self._unchanged, other._unchanged)
        return self

    # answering

    def predict(self, graph: Any, **options: Any) -> NDArray[Any]:
        """The class of each node as it was called in learning; "unknown" (-1 for numbers) where reject says so."""
        found = self.answers(graph, **options)
        _warn(found.remarks)
        return found.labels

    def answers(self, graph: Any, below: float | None = None, **options: Any) -> Answer:
        """Labels with their probabilities; below: the least probability of an answer, instead of the model's."""
        learned = self._unchanged
        check_below(learned, below)
        return answered(learned, learned.prepare(to_batch(graph, **options)), below)

    def predict_proba(self, graph: Any, **options: Any) -> NDArray[np.float64]:
        """The probability of each class of `classes_`: (nodes, classes); calibrated on the held-out nodes."""
        return self._unchanged.probabilities(self._graph(graph, options))

    def decision_function(self, graph: Any, **options: Any) -> NDArray[np.float32]:
        """The logits: (nodes, classes)."""
        return self._unchanged.logits(self._graph(graph, options))

    def embed(self, graph: Any, **options: Any) -> NDArray[np.float32]:
        """What the last layer sees of each node: (nodes, width)."""
        return self._unchanged.learner.embed(self._graph(graph, options))

    def score(self, graph: Any, y: Labels | None = None, **options: Any) -> float:
        """The share of nodes with a label that is predicted; a class that was never learned counts as a mistake.

        Of a PyG Data the nodes of test_mask count, all with a label where there is none; mask= names another.
        """
        options = {**scoring_options(graph), **options}
        batch = to_batch(graph, y, **options)
        rows = np.flatnonzero(batch.labelled)
        if not len(rows):
            masked = options.get("mask") is not None
            advice = "all labels are outside of the mask; name another one with mask=" if masked else GIVE_LABELS
            raise DataError(f"nodes with labels are wanted to score, got none; {advice}")
        return float(np.mean(self.predict(batch)[rows] == self.spelled(batch.labels)[rows]))

    def spelled(self, labels: Labels) -> NDArray[np.object_]:
        """Labels as the classes are called here: 3, "3" and "3.0" are one name, that of the first batch."""
        return spelled(labels_of(labels, len(np.asarray(labels, dtype=object))), self._fitted.classes)

    def _graph(self, graph: Any, options: Mapping[str, Any]) -> Any:
        prepared = self._fitted.prepare(to_batch(graph, **options))
        _warn(prepared.remarks)
        return prepared.graph

    # what was learned

    @property
    def _fitted(self) -> Learned:
        if self._is_new:
            raise ConfigError(
                "a classifier that has learned something is wanted, got a new one; call partial_fit first"
            )
        return self._learned

    @property
    def _unchanged(self) -> Learned:
        """What was learned, answering as reject and reject_below say now; no other argument may have changed."""
        learned = self._fitted
        changed = self._changed()
        if changed:
            now, then = self._plain_params()[changed[0]], self._learned_with[changed[0]]
            raise ConfigError(
                f"the arguments with which the classifier has learned are wanted, got {changed[0]}={now!r} in the "
                f"place of {then!r}; set it back, or learn anew with fit"
            )
        answer_as(learned, self._answers())
        return learned

    def _changed(self) -> list[str]:
        """The arguments that count while learning and are others now."""
        now = self._plain_params()
        return [name for name, then in self._learned_with.items() if name not in ANSWERING and now[name] != then]

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in order of arrival."""
        return np.array(self._fitted.classes)

    @property
    def n_features_in_(self) -> int:
        """The columns that are used."""
        schema = self._fitted.schema
        return schema.n_features if schema.width is not None else len(schema.columns)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns that are used."""
        schema = self._fitted.schema
        if schema.width is not None:
            raise AttributeError("feature_names_in_ is there for columns with names only")
        return np.array([column.name for column in schema.columns], dtype=object)

    @property
    def schema_(self) -> FeatureSchema:
        """How columns become features."""
        return self._fitted.schema

    @property
    def memory_(self) -> dict[str, int]:
        """Bytes of what is kept of the past: by the learner, of learned nodes (checksums), of held-out nodes."""
        return self._fitted.memory()

    @property
    def choices_(self) -> dict[str, Any]:
        """What the method has chosen from the data that were learned, by name; most choose nothing."""
        return self._fitted.learner.choices()

    @property
    def n_batches_(self) -> int:
        """The batches that were learned, also those of merged classifiers."""
        return self._fitted.batches

    @property
    def history_(self) -> list[Step]:
        """What happened, step by step."""
        return list(self._fitted.history)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        if self._is_new:
            return f"<{text}, nothing learned>"
        learned = self._learned
        size = learned.nbytes / 1e6
        changed = self._changed()
        return (
            f"<{text}, {len(learned.classes)} classes, {len(learned.ledger):,} nodes learned in "
            f"{learned.batches} batch{'' if learned.batches == 1 else 'es'}, {size:.1f} MB"
            f"{', changed since it has learned: ' + ', '.join(changed) if changed else ''}>"
        )

    def __copy__(self) -> Self:
        """A copy that learns on by itself."""
        return deepcopy(self)

    # storing

    def save(self, folder: str | Path, *, timeout: float = WAIT_SECONDS) -> None:
        """Store the classifier in a model folder, in the place of the model that is there.

        The folder holds the old or the new classifier, whenever the process dies (`evergraph.models`). timeout: how
        many seconds to wait for another process that writes there.
        """
        write_model(folder, *self.contents(), nan_in=may_be_nan, timeout=timeout)

    def save_in(self, place: ModelFolder) -> None:
        """Store the classifier in a model folder that this process has locked."""
        place.write(*self.contents(), nan_in=may_be_nan)

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What `save` writes: the manifest and the tensors."""
        about = {"kind": KIND, "params": self._plain_params()}
        if self._is_new:
            config = run_config(
                self.method, self.backbone, self.budget, self.epochs, self.random_state, self.settings
            )
            return {**about, "config": config.to_values(), "classes": [], "n_features": 0, "n_tasks": 0}, {}
        learned = self._unchanged
        return {**about, **manifest_of(learned)}, tensors_of(learned)

    def _plain_params(self) -> dict[str, Any]:
        """The arguments as JSON has them."""
        params = self.get_params(deep=False)
        plain = {name: list(value) for name, value in params.items() if name in ("numbers", "categories")}
        return {**params, **plain}

    @classmethod
    def load(cls, folder: str | Path) -> "ContinualClassifier":
        """The inverse of `save`: it predicts the same and learns on the same."""
        path = Path(folder)
        model = read_model(path, nan_in=may_be_nan)
        about = checked_about(model, path)
        with as_saved(path):
            config = {name: section for name, section in about.config.items() if name != "dataset"}
            settings = RunConfig.from_values(config, dataset_budget=False)
            result = cls(**arguments_of(about, settings))
        check_plugins(about.plugins, settings.plugin_sources(), path)
        if about.n_tasks:
            with as_saved(path):
                result._keep(learned_of(model, about, settings, result._answers()))
        return result


def _warn(remarks: Sequence[str]) -> None:
    for remark in remarks:
        warnings.warn(remark, GraphWarning, stacklevel=3)
