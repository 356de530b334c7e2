"""Constants by brute force; theorems against the paper's tables and lemmas, and against simulated runs."""

import math

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.theory.evaluation import fedac_constants, variance
from fedatlas.theory.fedac.theorem import exact_constants
from tests.helpers import logistic, quadratic


def one_sample_gradients(problem, x):
    return np.concatenate([problem.batch([0], np.array([[j]])).grad(x) for j in range(problem.samples)])


def hessian(problem, x):
    return np.stack([problem.hessian_product(x)(unit) for unit in np.eye(problem.dim)])


def points(problem, scales=(0.1, 1, 10, 1000), seed=1):
    rng = np.random.default_rng(seed)
    return [scale * rng.standard_normal(problem.dim) for scale in scales for _ in range(25)]


def test_L_is_the_largest_curvature_and_mu_bounds_the_smallest(problem, constants):
    v = np.ones(problem.dim)
    for _ in range(2000):
        v = hessian(problem, np.zeros(problem.dim)) @ v
        v /= np.linalg.norm(v)
    assert constants.L == pytest.approx(v @ hessian(problem, np.zeros(problem.dim)) @ v, rel=1e-9)
    for x in points(problem):
        curvatures = np.linalg.eigvalsh(hessian(problem, x))
        assert constants.mu - 1e-12 <= curvatures[0] and curvatures[-1] <= constants.L + 1e-12


def test_variance_by_enumeration(problem):
    for x in points(problem, (1, 10)):
        gradients = one_sample_gradients(problem, x)
        np.testing.assert_allclose(gradients.mean(axis=0), problem.gradient(x), atol=1e-12)
        expected = np.mean(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
        assert variance(problem, x) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("spread", [0.0, 1.5], ids=["equal rows", "heavy tails"])
def test_sigma_bounds_the_moments_at_every_point(spread):
    problem = logistic(samples=40, dim=4, heterogeneous=False)
    scale = np.exp(spread * np.random.default_rng(5).standard_normal((40, 1)))
    problem = Logistic(problem.A * scale, problem.b > 0, 0.1)
    c = fedac_constants(problem)
    second, fourth = [], []
    for x in points(problem):
        gradients = one_sample_gradients(problem, x)
        distances = np.linalg.norm(gradients - gradients.mean(axis=0), axis=1)
        second.append(np.mean(distances**2) ** 0.5)
        fourth.append(np.mean(distances**4) ** 0.25)
    assert 0.4 * c.sigma < max(second) <= c.sigma
    assert 0.4 * c.sigma4 < max(fourth) <= c.sigma4
    assert c.sigma <= c.sigma4


@pytest.mark.parametrize("rows", [1, 40], ids=["one row", "many rows"])
def test_Q_bounds_the_change_of_the_hessian(rows):
    problem = logistic(samples=40, dim=4, heterogeneous=False)
    problem = Logistic(problem.A[:rows], problem.b[:rows] > 0, 0.1)
    Q = fedac_constants(problem).Q
    rng = np.random.default_rng(2)
    steepest = math.log(2 + math.sqrt(3))  # where |s''| is largest
    starts = [steepest * a / (a @ a) for a in problem.A] + [rng.standard_normal(4) for _ in range(200)]
    ratios = []
    for u in starts:
        direction = u / np.linalg.norm(u) if rows == 1 else rng.standard_normal(4)
        w = u + 10.0 ** rng.uniform(-4, 1) * direction if rows > 1 else u + 1e-4 * direction
        change = np.linalg.norm(hessian(problem, u) - hessian(problem, w), 2)
        ratios.append(change / np.linalg.norm(u - w))
    assert max(ratios) <= Q
    assert max(ratios) > (0.999 if rows == 1 else 0.1) * Q


def test_constants_of_noisy_quadratics_are_exact():
    problem = quadratic(heterogeneity=0, similarity=0, clients=3, noise=2.0)
    x0 = np.arange(8.0)
    c = exact_constants(problem, x0)
    for x in (x0, -3 * x0):
        gradients = np.stack([problem.batch([1], np.array([[j]])).grad(x)[0] for j in range(problem.samples)])
        distances = np.linalg.norm(gradients - problem.gradient(x), axis=1)
        assert np.mean(distances**2) == pytest.approx(c.sigma**2)
        assert np.mean(distances**4) == pytest.approx(c.sigma4**4)
    assert (c.mu, c.L, c.Q) == pytest.approx((1, 10, 0)) and c.D0 == pytest.approx(
        np.linalg.norm(x0 - problem.optimum.x)
    )
    assert c.gap == pytest.approx(problem.value(x0) - problem.optimum.F)
    assert exact_constants(quadratic(heterogeneity=0, similarity=0, noise=0), x0).sigma == 0
    with pytest.raises(UserError, match="alike"):
        exact_constants(quadratic(), x0)


@pytest.mark.parametrize("variant", [1, 2])
def test_augmentation_around_the_origin_is_more_l2(variant):
    plain = logistic(heterogeneous=False, l2=0.05)
    plain.start_scale = 0.0
    heavier = logistic(heterogeneous=False, l2=0.05 + 0.3)
    heavier.start_scale = 0.0
    setting = Setting(clients=3, local_steps=4, rounds=6, batch=2)
    augmented = ALGORITHMS.create("fedac-convex", {"lr": 0.2, "lam": 0.3, "variant": variant})
    direct = ALGORITHMS.create(f"fedac-{variant}", {"lr": 0.2, "mu": 0.3})
    result = Simulation(augmented, plain, setting, seed=1).run().x
    np.testing.assert_allclose(result, Simulation(direct, heavier, setting, seed=1).run().x, rtol=1e-10)
    assert np.linalg.norm(result) > 1e-3
