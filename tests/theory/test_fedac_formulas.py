"""FedAc's theorems as formulas: rates, prefactors and units."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.theorem import FedAcConstants
from fedatlas.theory.theorem import unmet

NAMES = list(FEDAC_THEOREMS)


def draw_case(seed):
    """Constants, M, K and T over many magnitudes, as a theorem allows them."""
    rng = np.random.default_rng(seed)
    L, condition, sigma, Q, D0 = 10 ** rng.uniform(-2, 2, 5)
    mu = L / (1 + condition)
    gap = rng.uniform(mu, L) / 2 * D0**2
    M, K = (int(10 ** rng.uniform(0, 4)) for _ in range(2))
    T = K * int(10 ** rng.uniform(3, 6))
    return FedAcConstants(L, mu, sigma, sigma, Q, D0, gap, M, K), T


# Table 2 without logarithms, times the theorem's number, times what its logarithms are where noise drowns everything.
RATES = {
    "B.1": {
        "noise": (2, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "drift": (400, lambda L, mu, s, Q, D, M, T, R: L * s**2 / (mu**2 * T * R**2)),
    },
    "C.13": {
        "noise": (4, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "drift": (8101, lambda L, mu, s, Q, D, M, T, R: L**2 * s**2 / (mu**3 * T * R**3)),
    },
    "C.1": {
        "noise": (4, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "drift": (55, lambda L, mu, s, Q, D, M, T, R: L * s**2 / (mu**2 * M * T * R**2)),
        "curvature": (math.e**18, lambda L, mu, s, Q, D, M, T, R: Q**2 * s**4 / (mu**5 * T**2 * R**6)),
    },
    "D.1": {
        "noise": (3, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "curvature": (3073, lambda L, mu, s, Q, D, M, T, R: Q**2 * s**4 / (mu**5 * T**2 * R**2)),
    },
    "E.1": {
        "initial": (2, lambda L, mu, s, Q, D, M, T, R: L * D**2 / (T * R) * math.log(math.e**2 + T * R) ** 2),
        "noise": (2 * 2**2, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5),
        "drift": (1005 * 4**4, lambda L, mu, s, Q, D, M, T, R: (L * s**2 * D**4 / (T * R**2)) ** (1 / 3)),
    },
    "E.2": {
        "initial": (10, lambda L, mu, s, Q, D, M, T, R: L * D**2 / (T * R) * math.log(math.e**2 + T * R) ** 2),
        "noise": (5, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5),
        "drift": (16411 * 4**4, lambda L, mu, s, Q, D, M, T, R: (L**2 * s**2 * D**6 / (T * R**3)) ** (1 / 4)),
    },
    "E.3": {
        "initial": (10, lambda L, mu, s, Q, D, M, T, R: L * D**2 / (T * R) * math.log(math.e**2 + T * R) ** 2),
        "noise": (5, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5),
        "drift": (139 * 3**3, lambda L, mu, s, Q, D, M, T, R: (L * s**2 * D**4 / (M * T * R**2)) ** (1 / 3)),
        "curvature": (math.e**19 * 8**8, lambda L, mu, s, Q, D, M, T, R: (Q * s**2 * D**5 / (T * R**3)) ** (1 / 3)),
    },
    "E.4": {
        "initial": (50, lambda L, mu, s, Q, D, M, T, R: L * D**2 / T * math.log(math.e + T)),
        "noise": (6, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5 * math.log(math.e**2 + T)),
        "curvature": (
            3076,
            lambda L, mu, s, Q, D, M, T, R: (Q * s**2 * D**5 / (T * R)) ** (1 / 3) * math.log(math.e**5 + T) ** 4,
        ),
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_terms_have_the_rates_of_table_2(name):
    for seed in range(20):
        c, T = draw_case(seed)
        c = replace(c, sigma=1e60, sigma4=1e60)
        terms = FEDAC_THEOREMS[name].terms(c, T)
        for term, (number, rate) in RATES[name].items():
            expected = number * rate(c.L, c.mu, 1e60, c.Q, c.D0, c.M, T, T / c.K)
            assert terms[term] == pytest.approx(expected, rel=1e-9), term
        assert set(terms) - set(RATES[name]) <= {"initial"}


@pytest.mark.parametrize("name", NAMES)
def test_units(name):
    """With w in units of r and F in units of f, bounds are in f, step sizes in r^2 / f and lambda in f / r^2."""
    theorem, r, f = FEDAC_THEOREMS[name], 7.0, 0.3
    for seed in range(50):
        c, T = draw_case(seed)
        scale = {"L": f / r**2, "mu": f / r**2, "sigma": f / r, "sigma4": f / r, "Q": f / r**3, "D0": r, "gap": f}
        scaled = replace(c, **{key: getattr(c, key) * by for key, by in scale.items()})
        assert theorem.bound(scaled, None, T // c.K) == pytest.approx(f * theorem.bound(c, None, T // c.K))
        assert theorem.step_size(scaled, T) == pytest.approx(r**2 / f * theorem.step_size(c, T))
        assert theorem.augmentation(scaled, T) == pytest.approx(f / r**2 * theorem.augmentation(c, T))


def test_convex_theorems_do_not_depend_on_mu_and_others_need_it(constants):
    constants = replace(constants, M=8, K=4)
    flat = replace(constants, mu=0.0)
    for theorem in FEDAC_THEOREMS.values():
        assert unmet(theorem.requirements(constants, 1000)) is None
        assert (unmet(theorem.requirements(flat, 1000)) is None) == theorem.convex
        if theorem.convex:
            assert theorem.bound(flat, None, 1000) == theorem.bound(constants, None, 1000)
            assert unmet(theorem.requirements(flat, (theorem.least_steps - 1) // 4)).startswith("mu >= 0")
