"""Federated logistic regression as a scikit-learn estimator."""

import functools
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fedatlas.api.train import train
from fedatlas.errors import UserError
from fedatlas.experiments.advice import resolve_advice
from fedatlas.federation import algorithms, partitions
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.array_validation import as_partition
from fedatlas.federation.problems.from_arrays import Softmax
from fedatlas.federation.problems.softmax import SoftmaxRegression
from fedatlas.registry.options import options
from fedatlas.registry.validation import construct, validate_names, validate_values
from fedatlas.theory import dissimilarity

SIZES = ("clients", "local_steps", "rounds")
# Smallest delta_A as a share of L_max: where clients are alike, the steps that theory advises would have no bound.
MIN_DISSIMILARITY = 1e-3


class FederatedLogisticRegression(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression with l2 penalty, trained by a federated algorithm on data split over clients.

    ``fedatlas show ALGORITHM`` prints the advice: a formula of L and L_max (smoothness of the mean loss and the largest
    of any client), mu (the l2 weight), delta_A (dissimilarity of the clients' Hessians, estimated at the start), M
    clients, K local steps and R rounds.

    Raises ValueError where scikit-learn's classifiers do, and on parameters that do not fit. Warns with scikit-learn's
    ConvergenceWarning where the algorithm diverged.

    Parameters
    ----------
    algorithm : str
        Name of an algorithm of the atlas. Those that need an exact proximal step are refused.
    clients : int
        Number of clients; never more than there are samples.
    partition : str, dict or list
        How samples are split: ``"iid"``, ``{"kind": "dirichlet", "alpha": 0.3}``, ..., or a list with the rows of each
        client, whose length is then the number of clients.
    lr : float or None
        The algorithm's step size, if it has one; None takes what theory advises.
    local_steps, rounds : int
        K, and the number of communication rounds.
    batch : int or None
        Samples of a local step; None takes full local gradients.
    l2 : float
        Weight of |x|^2 / 2.
    participation : dict or None
        Who takes part in a round, e.g. ``{"kind": "uniform", "count": 3}``; None: everyone.
    parameters : dict or None
        Further hyper-parameters of the algorithm: numbers, or formulas of the constants of the problem such as
        ``"2*delta_A"``. Those without a value and default take what theory advises.
    random_state : int, RandomState or None
        Seed of all draws.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels.
    coef_ : array (n_classes, n_features)
        The coefficients.
    intercept_ : array (n_classes,)
        The constants.
    n_iter_ : int
        Rounds that were run.
    history_ : DataFrame
        Costs and metrics by round; its ``attrs`` hold the hyper-parameters.
    n_features_in_ : int
        Number of features.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import fedatlas
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = fedatlas.FederatedLogisticRegression("scaffold", clients=5, rounds=20, random_state=0)
    >>> make_pipeline(StandardScaler(), model).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        algorithm: str = "fedavg",
        clients: int = 10,
        partition: str | dict[str, Any] | list[Any] = "iid",
        *,
        lr: float | None = None,
        local_steps: int = 5,
        rounds: int = 100,
        batch: int | None = None,
        l2: float = 1e-3,
        participation: dict[str, Any] | None = None,
        parameters: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.clients = clients
        self.partition = partition
        self.lr = lr
        self.local_steps = local_steps
        self.rounds = rounds
        self.batch = batch
        self.l2 = l2
        self.participation = participation
        self.parameters = parameters
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (n, d), dense or sparse, with labels y (n,).

        Args:
            X: Features.
            y: Labels.
            sample_weight: (n,) weights of the losses, by default 1. A client's objective is the weighted mean of the
                losses of its samples. A sample of weight 0 is left out before samples are split.

        Raises:
            ValueError: The data or a parameter do not fit.
        """
        X, y_valid = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y_valid)
        samples = len(y_valid)
        weights, rows_used = None, np.arange(samples)
        if sample_weight is not None:
            try:
                weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
            except TypeError as error:
                raise UserError(f"sample_weight holds something that is not a number ({error})") from None
            if weights.shape != (samples,) or (weights < 0).any() or not weights.any():
                raise UserError(f"sample_weight must hold {samples} weights of at least 0, not all of them zero")
            rows_used = np.flatnonzero(weights)
            X, y_valid, weights = X[rows_used], y_valid[rows_used], weights[rows_used]
        classes, labels = np.unique(y_valid, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: all labels are {classes[:1]!r}")
        seed = int(check_random_state(self.random_state).randint(2**31))
        hyper, conditions = self._parameters()
        owner = type(self).__name__
        validate_values(
            owner, {name: options(Setting)[name] for name in SIZES}, {name: getattr(self, name) for name in SIZES}
        )
        construct(owner, SoftmaxRegression, {"l2": self.l2})
        split, clients = self._split(labels, rows_used, samples, seed)
        problem = Softmax(X, labels, len(classes), self.l2, split, sample_weight=weights)
        setting = {"clients": clients, "local_steps": self.local_steps, "rounds": self.rounds}
        hyper = resolve_advice(self._algorithm, hyper, setting, _Constants(problem, clients))
        conditions |= {**setting, "batch": self.batch}
        if self.participation is not None:
            conditions["participation"] = self.participation
        self.history_ = train(self.algorithm, problem, seed=seed, optimum=False, **conditions, **hyper)
        x, attrs, self.classes_ = self.history_.attrs["x"], self.history_.attrs, classes
        self.coef_, self.intercept_ = x[: -len(classes)].reshape(len(classes), -1), x[-len(classes) :]
        self.n_iter_ = int(self.history_["round"].iloc[-1])
        if attrs["status"] == "diverged":
            problem_text = f"{self.algorithm} diverged in round {attrs['diverged_round']}"
            warnings.warn(f"{problem_text}: scale the features, or give a smaller lr", ConvergenceWarning, stacklevel=2)
        return self

    @property
    def _algorithm(self) -> type[Algorithm]:
        return algorithms.get(ALGORITHMS.resolve(self.algorithm))

    def _parameters(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return hyper-parameters with ``lr``, and options of the setting. Raise UserError if one is given twice."""
        parameters = {} if self.parameters is None else self.parameters
        if not isinstance(parameters, Mapping):
            raise UserError(f"parameters is {parameters!r:.60}; it must be a mapping of hyper-parameters to values")
        reserved = [name for name in self.get_params() if name != "lr" or self.lr is not None]
        hyper_options = self._algorithm.options()
        allowed = {**options(Setting), **hyper_options}
        validate_names(
            "parameters", {name: option for name, option in allowed.items() if name not in reserved}, parameters
        )
        if self.lr is not None and "lr" not in hyper_options:
            raise UserError(f"algorithm {self.algorithm} has no step size lr: leave lr out")
        hyper = {name: value for name, value in parameters.items() if name in hyper_options}
        conditions = {name: value for name, value in parameters.items() if name not in hyper_options}
        return hyper | ({} if self.lr is None else {"lr": self.lr}), conditions

    def _split(self, labels: np.ndarray, used: np.ndarray, samples: int, seed: int) -> tuple[Partition | None, int]:
        """Return the partition of the samples and the number of clients.

        Args:
            labels: Labels of the samples that are used.
            used: Their rows among all samples, including those of weight 0.
            samples: Number of all samples.
            seed: Seed of the partition.
        """
        if isinstance(self.partition, (list, tuple)):
            split = as_partition(self.partition, samples)
            assert split is not None
            index = np.full(samples, -1)
            index[used] = np.arange(len(labels))
            client_rows = [index[split.client(i)] for i in range(split.clients)]
            return as_partition([part[part >= 0] for part in client_rows], len(labels)), split.clients
        kind, values = partitions.PARTITIONS.split(self.partition)
        clients = min(self.clients, len(labels))
        return partitions.split({"kind": kind, "seed": seed, **values}, labels, clients), clients

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the logits (n, n_classes) of the samples X (n, d); for two classes their difference (n,)."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities (n, n_classes) of the samples X (n, d)."""
        from scipy.special import softmax

        return softmax(self._logits(X), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels (n,) of the samples X (n, d)."""
        best = self._logits(X).argmax(axis=1)
        return self.classes_[best]

    def _logits(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return X @ self.coef_.T + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Constants:
    """The constants of a problem, and an estimate of delta_A."""

    def __init__(self, problem: Softmax, clients: int) -> None:
        self.problem, self.clients = problem, clients

    def constant(self, name: str) -> float | None:
        """Return a constant, or None. Raise UserError if the data are too large for it."""
        try:
            with np.errstate(all="ignore"):
                value = self.delta_A if name == "delta_A" else self.problem.constant(name)
        except np.linalg.LinAlgError:  # squares of the numbers are not finite
            value = np.inf
        if value is not None and not 0 < value < np.inf:
            raise UserError(
                f"the numbers in X are too large for a step size of 1/{name}: scale the features, or give lr"
            )
        return value

    def constants(self) -> dict[str, float]:
        """Return all constants by name."""
        return {**self.problem.constants(), "delta_A": self.delta_A}

    @functools.cached_property
    def delta_A(self) -> float:
        """The dissimilarity of the clients' Hessians at 0, where the curvature of each loss is largest."""
        least = MIN_DISSIMILARITY * self.problem.client_smoothness
        if self.problem.partition is None:
            return least
        return max(dissimilarity.delta_A(self.problem, self.clients, np.zeros(self.problem.dim)), least)
