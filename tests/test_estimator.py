"""The scikit-learn estimator."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedatlas import FederatedLogisticRegression, UserError


@parametrize_with_checks([FederatedLogisticRegression(rounds=60)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("partition, tolerance", [("shared", 1e-5), ("iid", 2e-3)])
def test_agrees_with_scikit_learn(partition, tolerance):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = FederatedLogisticRegression("gd", 5, partition, l2=0.1, rounds=3000, random_state=0).fit(X, y)
    # two rows of weights share the penalty, w_1 = -w_0 = w / 2, and the intercept is penalised too
    theirs = LogisticRegression(C=1 / (0.1 / 2 * len(y)), tol=1e-10, max_iter=10_000, fit_intercept=False)
    theirs.fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(ours.coef_[1] - ours.coef_[0], theirs.coef_[0, :-1], atol=tolerance)
    np.testing.assert_allclose(ours.intercept_[1] - ours.intercept_[0], theirs.coef_[0, -1], atol=tolerance)


@pytest.mark.parametrize("algorithm", ["fedavg", "scaffold", "fedspeed"])
def test_learns_digits_of_two_classes_a_client(algorithm):
    X, y = load_digits(return_X_y=True)
    model = FederatedLogisticRegression(
        algorithm, partition={"kind": "classes", "classes": 2}, clients=10, lr=0.5, rounds=60, random_state=0
    )
    assert model.fit(X / 16, y).score(X / 16, y) > 0.85
    assert model.history_["loss"].iloc[-1] < model.history_["loss"].iloc[0]


def test_refuses_what_does_not_fit():
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2
    for options in ({"algorithm": "fedavgg"}, {"partition": "noniid"}, {"parameters": {"nu": 1}}, {"lr": -1.0}):
        with pytest.raises(ValueError, match=r"fedavg|noniid|nu|lr"):
            FederatedLogisticRegression(**options).fit(X, y)


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
        ({"participation": 5}, "participation is 5"),
        ({"parameters": [1]}, "parameters is"),
        ({"parameters": {"clients": 3}}, "parameters has no option 'clients'"),
        ({"parameters": {"seed": 3}}, "parameters has no option 'seed'"),
        ({"lr": 0.1, "parameters": {"lr": 0.2}}, "parameters has no option 'lr'"),
    ],
)
def test_a_parameter_that_does_not_fit(options, message):
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2
    with pytest.raises(UserError, match=re.escape(message)):
        FederatedLogisticRegression(**{"rounds": 2, **options}).fit(X, y)


def test_numbers_without_a_step_size():
    X, y = np.full((4, 2), 1e200), np.arange(4) % 2
    with pytest.raises(UserError, match="too large for a step size of 1/L"):
        FederatedLogisticRegression(rounds=2).fit(X, y)


def test_an_algorithm_without_a_step_size_of_its_own():
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2
    assert FederatedLogisticRegression("fedsps", rounds=2).fit(X, y).history_["round"].iloc[-1] == 2
