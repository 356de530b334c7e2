"""Federated logistic regression as a scikit-learn estimator."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fedatlas import algorithms, partitions
from fedatlas.errors import UserError
from fedatlas.experiments.train import train
from fedatlas.options import Option, check, check_names, construct, options
from fedatlas.problems.softmax import Softmax, SoftmaxRegression
from fedatlas.simulation.setting import Setting


class FederatedLogisticRegression(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression with l2 penalty, trained by a federated algorithm on data split over clients.

    Parameters
    ----------
    algorithm : str, name of an algorithm of the atlas.
    clients : int, number of clients; never more than there are samples.
    partition : str or dict, how samples are split: ``"iid"``, ``{"kind": "dirichlet", "alpha": 0.3}``, ...
    lr : float or None, the algorithm's step size, if it has one; None takes 1/L, the inverse smoothness of the loss.
    local_steps, rounds : int, K and the number of communication rounds.
    batch : int or None, samples of a local step; None takes full local gradients.
    l2 : float, weight of |x|^2 / 2.
    participation : dict or None, who takes part in a round, e.g. ``{"kind": "uniform", "count": 3}``; None: everyone.
    parameters : dict or None, further hyper-parameters of the algorithm.
    random_state : int, RandomState or None.

    Attributes
    ----------
    classes_ : (n_classes,) labels. coef_ : (n_classes, n_features). intercept_ : (n_classes,).
    history_ : DataFrame with costs and metrics by round. n_features_in_ : int.

    Raises ValueError where scikit-learn's classifiers do, and on parameters that do not fit.
    """

    def __init__(
        self,
        algorithm: str = "fedavg",
        clients: int = 10,
        partition: str | dict[str, Any] = "iid",
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

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on X (n, d), dense or sparse, with labels y (n,)."""
        X, given = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(given)
        self.classes_, labels = np.unique(given, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: all labels are {self.classes_[0]!r}"
            )
        seed = int(check_random_state(self.random_state).randint(2**31))
        known = algorithms.get(self.algorithm).options()
        owner, more = type(self).__name__, self._parameters(known)
        check(owner, {"clients": options(Setting)["clients"]}, {"clients": self.clients})
        kind, how = partitions.PARTITIONS.split(self.partition)
        construct(owner, SoftmaxRegression, {"l2": self.l2})
        clients = min(self.clients, len(given))
        split = partitions.split({"kind": kind, "seed": seed, **how}, labels, clients)
        problem = Softmax(X, labels, len(self.classes_), self.l2, split)
        given = {"clients": clients, "local_steps": self.local_steps, "rounds": self.rounds, "batch": self.batch}
        if self.participation is not None:
            given["participation"] = self.participation
        if self.lr is not None:
            given["lr"] = self.lr
        elif "lr" in known and "lr" not in more:
            given["lr"] = self._default_lr(problem)
        self.history_ = train(self.algorithm, problem, seed=seed, optimum=False, **given, **more)
        x, classes = self.history_.attrs["x"], len(self.classes_)
        self.coef_, self.intercept_ = x[:-classes].reshape(classes, -1), x[-classes:]
        return self

    def _parameters(self, known: Mapping[str, Option]) -> dict[str, Any]:
        """``parameters``, of which none may be given otherwise. known: the hyper-parameters of the algorithm."""
        more = {} if self.parameters is None else self.parameters
        if not isinstance(more, Mapping):
            raise UserError(f"parameters is {more!r:.60}; it must be a mapping of hyper-parameters to values")
        taken = [name for name in self.get_params() if name != "lr" or self.lr is not None]
        allowed = {**options(Setting), **known}
        check_names("parameters", {name: one for name, one in allowed.items() if name not in taken}, more)
        return dict(more)

    @staticmethod
    def _default_lr(problem: Softmax) -> float:
        try:
            with np.errstate(all="ignore"):
                lr = 1 / problem.smoothness
        except np.linalg.LinAlgError:  # where squares of the numbers are not finite
            lr = np.nan
        if not 0 < lr < np.inf:
            raise UserError("the numbers in X are too large for a step size of 1/L: scale the features, or give lr")
        return lr

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
