"""The problem of a biased coin, and its constants against enumeration."""

import math

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation import problems
from fedatlas.theory.fedac.theorem import exact_constants

SPEC = {"kind": "coin", "feature": 2.0, "heads": 3, "tails": 1, "l2": 0.5, "start_scale": 0}


def coin(**changes):
    return problems.create({**SPEC, **changes}, 4)


def gradients(problem, x):
    """Return the gradient of every toss at x."""
    rows = np.arange(problem.samples)[:, None]
    return problem.batch(np.zeros(len(rows), int), rows).grad(np.full((len(rows), 1), x))[:, 0]


@pytest.mark.parametrize("x", [-3.0, 0.0, 0.4, 5.0])
def test_moments_of_the_noise_are_those_of_all_tosses_at_every_point(x):
    problem = coin()
    noise = gradients(problem, x) - problem.gradient(np.array([x]))[0]
    assert noise.mean() == pytest.approx(0, abs=1e-12)
    assert problem.noise_moments == pytest.approx(((noise**2).mean(), (noise**4).mean()))


def test_constants_of_the_theorems_are_the_problem_s():
    problem = coin()
    c = exact_constants(problem, problem.start(0))
    assert (c.mu, c.Q) == (0.5, problem.hessian_lipschitz) and c.L == problem.smoothness
    assert (c.sigma**2, c.sigma4**4) == pytest.approx(problem.noise_moments)
    assert math.isclose(c.D0, abs(problem.optimum.x[0])) and c.gap > 0
    assert abs(problem.gradient(problem.optimum.x)[0]) < 1e-6


def test_a_coin_needs_a_toss():
    with pytest.raises(UserError, match="give the coin a toss"):
        coin(heads=0, tails=0)
