"""The scikit-learn estimator."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedatlas import FederatedLogisticRegression, UserError
from fedatlas.federation.algorithms import ALGORITHMS

SPLIT = FederatedLogisticRegression(clients=5, rounds=10)


@parametrize_with_checks([SPLIT])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


# Algorithms that are not for this classifier, and why.
REFUSED = dict.fromkeys(("dane", "fedred", "sonata"), " solves subproblems exactly, but this problem has no exact prox")


REFUSED["fedrep"] = ": this problem has no 'head', so head must be given"


LEAST = {"svrp-gd": 0.9}  # its theory advises short steps


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[] if name in REFUSED or name in ("fedavg", "scaffold", "fedac-1") else pytest.mark.slow
        )
        for name in ALGORITHMS.names()
    ],
)  # as they are advised, all run in experiments/test_advice.py
def test_every_algorithm_fits_with_its_defaults_or_is_refused_with_a_reason(name, data):
    X, y = data
    model = FederatedLogisticRegression(name, clients=4, rounds=40, random_state=0)
    if name in REFUSED:
        with pytest.raises(UserError, match=f"^algorithm {name}{REFUSED[name]}"):
            model.fit(X, y)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert model.score(X, y) > LEAST.get(name, 0.96)
    assert model.history_["loss"].iloc[-1] < model.history_["loss"].iloc[0]


def test_every_hyper_parameter_without_a_default_has_advice():
    items = [(name, item) for name in ALGORITHMS.names() for item in ALGORITHMS.get(name).options().values()]
    assert not [(name, item.name) for name, item in items if item.required and not item.advice]


def test_agrees_with_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = FederatedLogisticRegression("gd", 5, "shared", l2=0.1, rounds=3000, random_state=0).fit(X, y)
    # two rows of weights share the penalty, w_1 = -w_0 = w / 2, and the intercept is penalised too
    theirs = LogisticRegression(C=1 / (0.1 / 2 * len(y)), tol=1e-10, max_iter=10_000, fit_intercept=False)
    theirs.fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(ours.coef_[1] - ours.coef_[0], theirs.coef_[0, :-1], atol=1e-5)
    np.testing.assert_allclose(ours.intercept_[1] - ours.intercept_[0], theirs.coef_[0, -1], atol=1e-5)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lr": 0}, "lr is 0; it must be a number larger than 0"),
        ({"clients": 0}, "clients is 0"),
        ({"clients": "3"}, "clients is '3'"),
        ({"rounds": 0}, "rounds is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"l2": -1}, "l2 is -1"),
        ({"l2": float("nan")}, "l2 is nan"),
        ({"partition": None}, "partition is None"),
        ({"parameters": {"participation": 5}}, "participation is 5"),
        ({"parameters": {"momentum": 0.5}}, "fedavg has no option 'momentum'"),
    ],
)
def test_a_parameter_that_does_not_fit(options, message):
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2
    with pytest.raises(UserError, match=re.escape(message)):
        FederatedLogisticRegression(**{"rounds": 2, **options}).fit(X, y)
