"""Federated logistic regression as a scikit-learn estimator."""

import functools
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fedatlas.api.train import train
from fedatlas.experiments.advice import with_advice
from fedatlas.federation import partitions
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.from_arrays import Softmax
from fedatlas.registry.options import construct
from fedatlas.theory.dissimilarity import Dissimilarity

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
    parameters : dict or None
        Further hyper-parameters of the algorithm: numbers, or formulas of the constants of the problem such as
        ``"2*delta_A"``. Those without a value and default take what theory advises. Or options of the setting, such as
        ``participation``.
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
        self.parameters = parameters
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on X (n, d), dense or sparse, with labels y (n,).

        Args:
            X: Features.
            y: Labels.

        Raises:
            ValueError: The data or a parameter do not fit.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes, labels = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: all labels are {classes[:1]!r}")
        seed = int(check_random_state(self.random_state).randint(2**31))
        setting: dict[str, Any] = {name: getattr(self, name) for name in ("clients", "local_steps", "rounds")}
        construct(type(self).__name__, Setting, setting)
        setting["clients"] = min(self.clients, len(labels))
        rows: Any = self.partition
        if not isinstance(rows, (list, tuple)):
            kind, values = partitions.PARTITIONS.split(rows)
            rows = partitions.split({"kind": kind, "seed": seed, **values}, labels, setting["clients"])
        problem = _Objective(X, labels, len(classes), self.l2, rows)
        if problem.partition is not None:
            setting["clients"] = problem.partition.clients
        parameters = {**(self.parameters or {}), **({} if self.lr is None else {"lr": self.lr})}
        parameters = with_advice(ALGORITHMS.get(ALGORITHMS.resolve(self.algorithm)), parameters, setting)
        self.history_ = train(
            self.algorithm, problem, seed=seed, optimum=False, batch=self.batch, **setting, **parameters
        )
        x, attrs, self.classes_ = self.history_.attrs["x"], self.history_.attrs, classes
        self.coef_, self.intercept_ = x[: -len(classes)].reshape(len(classes), -1), x[-len(classes) :]
        self.n_iter_ = int(self.history_["round"].iloc[-1])
        if attrs["status"] == "diverged":
            problem_text = f"{self.algorithm} diverged in round {attrs['diverged_round']}"
            warnings.warn(f"{problem_text}: scale the features, or give a smaller lr", ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the logits (n, n_classes) of the samples X (n, d); for two classes their difference (n,)."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities (n, n_classes) of the samples X (n, d)."""
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


class _Objective(Softmax):
    """Softmax regression that knows delta_A as well: an estimate at 0, where the curvature of each loss is largest."""

    def constants(self) -> dict[str, float]:
        return {**super().constants(), "delta_A": self.delta_A}

    def constant(self, name: str) -> float | None:
        return self.delta_A if name == "delta_A" else super().constant(name)

    @functools.cached_property
    def delta_A(self) -> float:
        """The dissimilarity of the clients' Hessians."""
        least = MIN_DISSIMILARITY * self.client_smoothness
        if self.partition is None:
            return least
        return max(Dissimilarity(self, self.partition.clients, np.zeros(self.dim)).delta_A(), least)
