"""FedRed's dissimilarities against dense eigenvalues, and its theorems against runs and by hand."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.similar import SyntheticSimilarQuadratic
from fedatlas.theory import dissimilarity
from fedatlas.theory.dissimilarity import Dissimilarity
from fedatlas.theory.evaluation import fedred_constants
from fedatlas.theory.fedred import FEDRED_BOUNDS, FedRedConstants
from fedatlas.theory.theorem import unmet
from tests.helpers import logistic, network, quadratic, softmax

C = FedRedConstants(mu=0.5, L=10.0, delta_A=1.0, delta_B=1.5, D0=2.0, gap=8.0)


def dense(problem, x, clients=5):
    """The clients' Hessians at x by differences along every axis: (n, d, d)."""
    step, everyone = 1e-5, np.arange(clients)
    columns = [
        (problem.full_batch(everyone).grad(x + step * e) - problem.full_batch(everyone).grad(x - step * e)) / (2 * step)
        for e in np.eye(problem.dim)
    ]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("make", [logistic, softmax, lambda: quadratic(noise=0.0), lambda: network("linear")])
def test_power_method_finds_the_dense_eigenvalues(make, monkeypatch):
    monkeypatch.setattr(dissimilarity, "ITERATIONS", 2000)
    monkeypatch.setattr(dissimilarity, "TOLERANCE", 1e-7)
    problem = make()
    x = problem.start(0)
    if isinstance(x, np.ndarray):
        H = dense(problem, x)
    else:
        H = np.stack([np.asarray(h) for h in _torch(problem, x)])
    apart = np.linalg.norm(H - H.mean(axis=0), ord=2, axis=(1, 2))
    found = Dissimilarity(problem, 5, x)
    least = np.linalg.norm(np.concatenate(H - H.mean(axis=0)), ord=2) / np.sqrt(5)
    assert (found.delta_A(), found.delta_B()) == pytest.approx((least, apart.max()), rel=5e-3)


def _torch(problem, x):
    import torch

    batch = problem.full_batch(np.arange(5))
    columns = [(batch.grad(x + 1e-5 * e) - batch.grad(x - 1e-5 * e)) / 2e-5 for e in torch.eye(len(x), dtype=x.dtype)]
    return torch.stack(columns, dim=-1)


@pytest.mark.parametrize(
    ("name", "algorithm", "parameters", "count", "bound"),
    [
        ("1", "dane", {"lam": 3.0, "averaging": "random"}, 3, 36 * 1.5 * 8 / 3),
        (
            "2",
            "dane+-gd-least",
            {"lam": 3.0, "averaging": "random", "lr": 1 / 13, "solver_steps": 4},
            7,
            72 * 1.5 * 8 / 7,
        ),
        (
            "5",
            "dane+-gd",
            {"lam": 2.0, "lr": 1 / 12, "mu": 0.5},
            1,
            14,
        ),  # ln(12 (1 / 0.559 + 1 / 2.5)) / -ln(1 - 2.5 / 12) = 13.99
        ("21", "dane", {"lam": 1.0}, 3, 0.25 * 4 / (1.5**3 - 1)),
        (
            "8",
            "fedred-gd",
            {"eta": 60.0, "lam": 1.5, "p": 0.15, "averaging": "random"},
            10,
            96 * 10 * 8 / 10,
        ),
        ("4", "dane", {"lam": 2.0}, 3, 0.5 * 4 / (1.25**3 - 1)),
        ("6", "fedred", {"eta": 6.0, "lam": 1.5, "p": 0.25, "averaging": "random"}, 10, 150 * 6 * 8 / 10),
        ("B.154", "fedred", {"eta": 6.0, "lam": 1.5, "p": 0.25, "averaging": "random"}, 10, 150 * 6 * 8 / 10),
        ("7", "fedred", {"eta": 4.0, "lam": 1.0, "p": 1.25 / 4.25, "mu": 0.5}, 7, 0.25 * 4 / ((1 + 0.5 / 8) ** 7 - 1)),
        ("9", "fedred-gd", {"eta": 10.0, "lam": 1.0, "p": 1.25 / 9.75, "mu": 0.5}, 7, 1 / ((1 + 0.5 / 19) ** 7 - 1)),
    ],
)
def test_bounds_by_hand(name, algorithm, parameters, count, bound):
    theorem = FEDRED_BOUNDS[name]
    average = {"average": "weighted"} if name in "79" else {}
    a = ALGORITHMS.create(algorithm, parameters | average)
    assert unmet(theorem.conditions(C, a, count)) is None
    assert theorem.bound(C, a, count) == pytest.approx(bound)
    choices = theorem.choices(C, count)
    assert {k: getattr(a, k) for k in choices} == pytest.approx(choices)
    smaller = ALGORITHMS.create(algorithm, {**parameters, **average, "lam": 0.5})
    assert unmet(theorem.conditions(C, smaller, count)) is not None


def test_theorem_6_as_printed_counts_the_start():
    curve = pd.DataFrame({"gradient_norm": [3.0, 1.0, 2.0]})
    assert FEDRED_BOUNDS["6"].measured(C, curve).tolist() == [9, 9, 5]
    assert FEDRED_BOUNDS["B.154"].measured(C, curve).tolist() == [9, 1, 2.5]


@pytest.mark.parametrize("name", ["dane+-gd", "dane+-fgd"])
@pytest.mark.parametrize(
    ("changes", "condition"),
    [
        ({}, None),
        ({"mu": 0.0, "lr": 0.05}, None),
        ({"mu": 0.6}, "mu <= the clients' mu"),
        ({"lr": 1 / 11}, "lr <= 1 / (L + lam)"),
        ({"max_steps": 5}, "max_steps >= "),
        ({"lam": 1.9}, "lam >= 2 delta_A"),
    ],
)
def test_theorem_4_wants_the_accuracy_of_corollary_5(name, changes, condition):
    a = ALGORITHMS.create(name, {"lam": 2.0, "lr": 1 / 12, "mu": 0.5} | changes)
    result = unmet(FEDRED_BOUNDS["4"].conditions(C, a, 100))
    assert result == condition if condition is None else result.startswith(condition)


@pytest.mark.parametrize("name", FEDRED_BOUNDS)
@pytest.mark.parametrize("convexity", ["strongly convex", "convex"])
def test_runs_stay_below(name, convexity):
    problem = SyntheticSimilarQuadratic(dim=24, convexity=convexity, similarity=4.0, rank=8).build(5)
    theorem = FEDRED_BOUNDS[name]
    c, _ = fedred_constants(problem, 5)
    random = name in (*"1268", "B.154")
    extra = {"averaging": "random"} if random else {"average": "weighted", "mu": c.mu} if name in "79" else {}
    extra |= {"solver_steps": 100} if name == "2" else {}
    algorithm = ALGORITHMS.create(theorem.algorithms[0], theorem.choices(c, 40) | extra)
    setting = Setting(clients=5, rounds=40, batch=None, eval_rounds=1)
    curve = pd.DataFrame(Simulation(algorithm, problem, setting, seed=2).run().rows)
    count, measured, bound = theorem.compare(algorithm, problem, setting, curve)
    assert len(count) == 40 and (np.diff(count) > 0).all()
    assert (measured <= bound).all() and (measured > 1e-6 * bound).any()
    with pytest.raises(UserError, match="every round"):
        theorem.validate({"kind": "quadratic"}, algorithm.name, dataclasses.replace(setting, eval_rounds=2))


def test_what_a_theorem_is_not_about():
    problem = SyntheticSimilarQuadratic(dim=24, similarity=4.0, rank=8).build(5)
    curve = pd.DataFrame({"round": [0, 1], "steps": [0, 1], "suboptimality": [1.0, 0.5], "distance": [1.0, 0.9]})
    setting = Setting(clients=5, rounds=1, eval_rounds=1)
    for name, algorithm, parameters, word in (
        ("4", "dane", {"lam": 1.0}, "2 delta_A"),
        ("4", "gd", {"lr": 0.01}, "not gd"),
        ("9", "fedred-gd", {"eta": 100.0, "p": 0.05}, "weighted"),
    ):
        with pytest.raises(UserError, match=word):
            FEDRED_BOUNDS[name].compare(ALGORITHMS.create(algorithm, parameters), problem, setting, curve)
    indefinite = quadratic(noise=0.0, mu=0.1, similarity=2.0)
    with pytest.raises(UserError, match="convex clients"):
        FEDRED_BOUNDS["4"].compare(ALGORITHMS.create("dane", {"lam": 9.0}), indefinite, setting, curve)
