"""Federated logistic regression as a scikit-learn estimator."""

import functools
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from fedatlas.api.train import train
from fedatlas.errors import UserError
from fedatlas.experiments.advice import resolve_advice
from fedatlas.federation import algorithms, partitions
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.array_validation import as_partition
from fedatlas.federation.problems.from_arrays import Softmax
from fedatlas.federation.problems.softmax import SoftmaxRegression
from fedatlas.registry.options import construct, options, validate_names, validate_values
from fedatlas.theory.dissimilarity import mean_dissimilarity

SIZES = ("clients", "local_steps", "rounds")
LEAST = (
    1e-3  # of L_max: clients that differ less count as differing so much, or steps that theory advises have no bound
)


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
    warm_start : bool
        Whether ``fit`` starts at the coefficients of the last one. All else that server and clients remember starts
        anew.
    verbose : bool or int
        Whether loss and accuracy are printed while it trains.
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
        warm_start: bool = False,
        verbose: bool | int = False,
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
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (n, d), dense or sparse, with labels y (n,).

        sample_weight: (n,) weights of the losses, by default 1. A client's objective is the weighted mean of the losses
        of its samples. A sample of weight 0 is left out before samples are split.
        """
        X, given = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(given)
        weights, kept = None, np.arange(len(given))
        if sample_weight is not None:
            try:
                weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            except TypeError as error:
                raise UserError(f"sample_weight holds something that is not a number ({error})") from None
            kept = np.flatnonzero(weights)
            X, given, weights = X[kept], given[kept], weights[kept]
        classes, labels = np.unique(given, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: all labels are {classes[:1]!r}")
        seed = int(check_random_state(self.random_state).randint(2**31))
        hyper, conditions = self._parameters()
        owner = type(self).__name__
        validate_values(owner, {name: options(Setting)[name] for name in SIZES}, {name: getattr(self, name) for name in SIZES})
        construct(owner, SoftmaxRegression, {"l2": self.l2})
        split, clients = self._split(labels, kept, _num_samples(y), seed)
        start = self._start(classes, X.shape[1])
        problem = Softmax(X, labels, len(classes), self.l2, split, sample_weight=weights, start=start)
        setting = {"clients": clients, "local_steps": self.local_steps, "rounds": self.rounds}
        hyper = resolve_advice(algorithms.get(self.algorithm), hyper, setting, _Constants(problem, clients))
        conditions |= {**setting, "batch": self.batch}
        if self.participation is not None:
            conditions["participation"] = self.participation
        say = self._say if self.verbose else None
        self.history_ = train(self.algorithm, problem, seed=seed, optimum=False, progress=say, **conditions, **hyper)
        x, attrs, self.classes_ = self.history_.attrs["x"], self.history_.attrs, classes
        self.coef_, self.intercept_ = x[: -len(classes)].reshape(len(classes), -1), x[-len(classes) :]
        self.n_iter_ = int(self.history_["round"].iloc[-1])
        if attrs["status"] == "diverged":
            found = f"{self.algorithm} diverged in round {attrs['diverged_round']}"
            warnings.warn(f"{found}: scale the features, or give a smaller lr", ConvergenceWarning, stacklevel=2)
        return self

    def _parameters(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Hyper-parameters with ``lr``, and options of the setting. Of ``parameters`` none may be given otherwise."""
        more = {} if self.parameters is None else self.parameters
        if not isinstance(more, Mapping):
            raise UserError(f"parameters is {more!r:.60}; it must be a mapping of hyper-parameters to values")
        taken = [name for name in self.get_params() if name != "lr" or self.lr is not None]
        known = algorithms.get(self.algorithm).options()
        allowed = {**options(Setting), **known}
        validate_names("parameters", {name: one for name, one in allowed.items() if name not in taken}, more)
        if self.lr is not None and "lr" not in known:
            raise UserError(f"algorithm {self.algorithm} has no step size lr: leave lr out")
        hyper = {name: value for name, value in more.items() if name in known}
        conditions = {name: value for name, value in more.items() if name not in known}
        return hyper | ({} if self.lr is None else {"lr": self.lr}), conditions

    def _split(self, labels: np.ndarray, kept: np.ndarray, samples: int, seed: int) -> tuple[Partition | None, int]:
        """Whose samples are whose, and the number of clients.

        labels: of the samples that are kept. kept: their rows among all samples, before some were left out.
        """
        if isinstance(self.partition, (list, tuple)):
            split = as_partition(self.partition, samples)
            assert split is not None
            place = np.full(samples, -1)
            place[kept] = np.arange(len(labels))
            owned = [place[split.client(i)] for i in range(split.clients)]
            return as_partition([own[own >= 0] for own in owned], len(labels)), split.clients
        kind, how = partitions.PARTITIONS.split(self.partition)
        clients = min(self.clients, len(labels))
        return partitions.split({"kind": kind, "seed": seed, **how}, labels, clients), clients

    def _start(self, classes: np.ndarray, features: int) -> np.ndarray | None:
        """Where training starts: at the last coefficients with ``warm_start``, else at 0."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        if not np.array_equal(self.classes_, classes) or self.coef_.shape[1] != features:
            raise UserError("warm_start: the last fit had other classes or another number of features")
        return np.concatenate([self.coef_.ravel(), self.intercept_])

    def _say(self, row: dict[str, Any]) -> None:
        print(f"{self.algorithm}: round {row['round']}, loss {row['loss']:.6g}, accuracy {row['accuracy']:.4f}")

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits (n, n_classes) of the samples X (n, d); for two classes their difference (n,)."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities (n, n_classes) of the samples X (n, d)."""
        from scipy.special import softmax

        return softmax(self._logits(X), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Labels (n,) of the samples X (n, d)."""
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
        """A constant, or None. Raises UserError where numbers are too large for it."""
        try:
            with np.errstate(all="ignore"):
                value = self.delta_A if name == "delta_A" else self.problem.constant(name)
        except np.linalg.LinAlgError:  # where squares of the numbers are not finite
            value = np.inf
        if value is not None and not 0 < value < np.inf:
            raise UserError(
                f"the numbers in X are too large for a step size of 1/{name}: scale the features, or give lr"
            )
        return value

    def constants(self) -> dict[str, float]:
        """All of them."""
        return {**self.problem.constants(), "delta_A": self.delta_A}

    @functools.cached_property
    def delta_A(self) -> float:
        """The dissimilarity of the clients' Hessians at 0, where each loss is curved most."""
        least = LEAST * self.problem.client_smoothness
        if self.problem.partition is None:
            return least
        return max(mean_dissimilarity(self.problem, self.clients, np.zeros(self.problem.dim)), least)
