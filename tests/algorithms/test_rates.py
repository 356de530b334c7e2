"""Runs are at least as fast as the theorems in Table 1 of FedRed say."""

import math

import pytest

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.testing import Implementation
from fedatlas.testing.convergence import rate


def theory(name, c):
    """The hyper-parameters of the theorems. c: constants of the problem."""
    mu, L, delta = c["mu_min"], c["L_max"], c["delta_A"]
    eta = 1.5 * L
    return {
        "gd": {"lr": 1 / c["L"]},
        "mb-sgd": {"lr": 1 / c["L"]},
        "dane": {"lam": 2 * delta},
        "dane+-gd": {"lam": 2 * delta, "lr": 1 / (L + 2 * delta), "mu": mu},
        "dane+-fgd": {"lam": 2 * delta, "lr": 1 / (L + 2 * delta), "mu": mu},
        "fedred": {"eta": 4 * delta, "lam": delta, "mu": mu, "p": (delta + mu / 2) / (4 * delta + mu / 2)},
        "fedred-gd": {"eta": eta, "lam": delta, "mu": mu, "p": (delta + mu / 2) / (eta - mu / 2)},
        "fedred-sgd": {"eta": eta, "lam": delta, "mu": mu, "p": (delta + mu / 2) / (eta - mu / 2)},
        "ef21": {"lr": 0.2 / L, "compressor": {"kind": "top-k", "share": 0.5}},
        "ef21-sgdm": {"lr": 0.2 / L, "momentum": 1.0, "compressor": {"kind": "top-k", "share": 0.5}},
        "diana": {"lr": 1 / (L * (1 + 6 * 1 / 5))},  # rand-k with d/k = 2, and 5 clients
        "marina": {"lr": 1 / (L * (1 + math.sqrt(2 / 5)))},
        "compressed-scaffnew": {"lr": 2 / (L + mu), "p": min(1, math.sqrt(4 * mu / L))},
        "scaffnew": {"lr": 1 / L, "p": math.sqrt(mu / L)},
        "sonata": {"tau": 2 * delta},
        "svrp-gd": {"lr": 1 / (L + 2 * delta**2 / mu), "eta": mu / (2 * delta**2), "p": 0.2},
    }[name]


RATED = [name for name in ALGORITHMS.names() if ALGORITHMS.get(name).overrides("rate")]
for name in ("dane+-sgd", "dane+-gd-least"):
    RATED.remove(name)  # it takes a fixed number of local steps, so no theorem gives its rate


@pytest.mark.parametrize("name", RATED)
def test_is_at_least_as_fast_as_its_theorem_says(name, heterogeneous):
    rate(Implementation(ALGORITHMS.get(name), theory(name, heterogeneous.constants())))


@pytest.mark.parametrize(
    "name, changes",
    [
        ("dane", {"lam": 0.5}),
        ("dane", {"averaging": "random"}),
        ("dane+-gd", {"lam": 0.5}),
        ("dane+-gd", {"mu": 5.0}),
        ("fedred", {"p": 0.9}),
        ("fedred", {"eta": 0.1}),
        ("fedred-gd", {"eta": 5.0}),
        ("fedred-gd", {"mu": 0.0}),
        ("gd", {"lr": 0.11}),
        ("mb-sgd", {"lr": 0.11}),
        ("dane+-gd", {"lr": 0.1}),
        ("dane+-fgd", {"lr": 0.1}),
        ("dane+-gd", {"max_steps": 50}),
        ("dane+-fgd", {"max_steps": 20}),
        ("scaffnew", {"lr": 0.2}),
        ("sonata", {"graph": "ring"}),
    ],
)
def test_no_rate_is_claimed_where_no_theorem_applies(name, changes, heterogeneous):
    c = heterogeneous.constants()
    assert ALGORITHMS.create(name, theory(name, c) | changes).rate(c) is None


@pytest.mark.parametrize("name", ["dane", "dane+-gd", "dane+-fgd", "sonata", "svrp-gd", "scaffnew", "fedred-gd"])
def test_no_rate_is_claimed_where_a_client_is_not_convex(name, heterogeneous):
    c = heterogeneous.constants()
    parameters = {key: 0.0 if key == "mu" else value for key, value in theory(name, c).items()}
    assert ALGORITHMS.create(name, parameters).rate(c | {"mu_min": -0.01}) is None


C = {"mu": 1.0, "L": 10.0, "mu_min": 0.5, "L_max": 20.0, "delta_A": 2.0, "dim": 10, "clients": 5}


@pytest.mark.parametrize(
    "name, parameters, expected",
    [
        ("gd", {"lr": 0.1}, 0.9**2),
        ("gd", {"lr": 0.19}, 0.9**2),  # |1 - 1.9|
        ("mb-sgd", {"lr": 0.05}, 0.95**2),
        ("dane", {"lam": 4.5}, 0.9),
        ("sonata", {"tau": 4.5}, 0.9),
        ("dane+-gd", {"lam": 4.5, "lr": 0.04, "mu": 0.5}, 0.9),
        ("dane+-fgd", {"lam": 4.5, "lr": 0.04}, 0.9),
        # q = 1 - 0.5 / 20.5 = 40/41, p = (2.25 + 0.25) / 10.25 = 10/41: p q / (1 - (1 - p) q) = 400 / (1681 - 1240)
        ("fedred", {"eta": 10.0, "lam": 2.25, "mu": 0.5, "p": 10 / 41}, 400 / 441),
        # q = 1 - 0.5 / 40.5 = 80/81, p = 2.5 / 20.25 = 10/81: 800 / (6561 - 5680)
        ("fedred-gd", {"eta": 20.5, "lam": 2.25, "mu": 0.5, "p": 10 / 81}, 800 / 881),
        # q = 1 - min(0.02, 0.01) = 0.99: 0.099 / (1 - 0.9 * 0.99)
        ("scaffnew", {"lr": 0.04, "p": 0.1}, 0.099 / 0.109),
        ("scaffnew", {"lr": 0.04, "p": 1.0}, 0.98),
        # theta = 1 - sqrt(0.5): lr may be 1 / (10 + 20 / theta) = 0.0128; with alpha = 1 it is that of gd
        ("ef21", {"lr": 0.0125, "compressor": {"kind": "top-k", "count": 5}}, 0.9875),
        ("ef21", {"lr": 0.013, "compressor": {"kind": "top-k", "count": 5}}, None),
        ("ef21", {"lr": 0.1, "compressor": "identity"}, 0.9),
        ("ef21-sgdm", {"lr": 0.1, "compressor": "identity", "momentum": 1.0}, 0.9),
        ("ef21-sgdm", {"lr": 0.1, "compressor": "identity", "momentum": 0.9}, None),
        ("diana", {"lr": 0.022}, 0.978),  # omega = 1: lr may be 1 / (2.2 20) = 0.0227
        ("diana", {"lr": 0.023}, None),
        ("diana", {"lr": 0.001, "compressor": {"kind": "rand-k", "count": 1}, "alpha": 0.001}, 0.9995),
        # q = max(0.99^2, 0.6^2, 1 - 0.01/4), p = 0.1: 0.09975 / (1 - 0.9 * 0.9975)
        ("compressed-scaffnew", {"lr": 0.02, "p": 0.1}, 0.09975 / 0.10225),
        ("compressed-scaffnew", {"lr": 0.1, "p": 0.1}, None),
        ("marina", {"lr": 0.03}, 0.97),  # p = 1/2: lr may be 1 / (20 (1 + sqrt(0.4))) = 0.0306
        ("marina", {"lr": 0.031}, None),
        # a = 1/1.05^2, b = a 0.04: the larger root of z^2 - (a + p b + 1 - p) z + a (1 - p)
        ("svrp-gd", {"lr": 0.01, "eta": 0.1, "p": 0.2}, 1 / 1.05),
    ],
)
def test_rates_by_hand(name, parameters, expected):
    assert ALGORITHMS.create(name, parameters).rate(C) == pytest.approx(expected)
