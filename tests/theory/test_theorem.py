"""The interface that all theorems share."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation import algorithms
from fedatlas.theory import NotCovered
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.theorem import FedAcConstants
from fedatlas.theory.fedawe.bounds import Corollary2, Corollary3, FedAWEConstants, Theorem1
from fedatlas.theory.fedred import FEDRED_BOUNDS, FedRedConstants
from fedatlas.theory.fedspeed import FEDSPEED_BOUNDS, FedSpeedConstants
from fedatlas.theory.fedsps import FEDSPS_BOUNDS, BoundedVarianceConstants, FedSPSConstants
from fedatlas.theory.theorems import THEOREMS
from tests.theory.test_fedred import PARAMETERS

FEDSPS = FedSPSConstants(mu=0.5, L=10, noise=3, D0=2, tau=2)
BOUNDED = BoundedVarianceConstants(mu=-1, L=10, sigma2=3, zeta2=2, gap=7, n=4, tau=2)
FEDAC = FedAcConstants(L=10, mu=0.5, sigma=1, sigma4=2, Q=1, D0=2, gap=8, M=4, K=2)
FEDRED = FedRedConstants(mu=0.5, L=10, delta_A=1, delta_B=1.5, D0=2, gap=8)
FEDSPEED = FedSpeedConstants(L=2, sigma_g=3, sigma_l=0.5, m=2, K=4, gap=7, local=11, common=5)
FEDAWE = FedAWEConstants(m=2, s=2, L=1, sigma2=9, zeta2=25, gap=3, delta=0.5, delta_max=1, rho=0.5)
ROUNDS = 1000
STEP = 1 / (128 * 12**0.5)  # half of FedSpeed's largest
CASES = [
    *((theorem, FEDAC, theorem.choices(FEDAC, ROUNDS)) for theorem in FEDAC_THEOREMS.values()),
    *((theorem, FEDRED, PARAMETERS[name](FEDRED)) for name, theorem in FEDRED_BOUNDS.items()),
    (FEDSPS_BOUNDS["3(a)"], FEDSPS, {"c": 8, "gamma_b": 0.001}),
    (FEDSPS_BOUNDS["3(b)"], FEDSPS, {"c": 16, "gamma_b": 0.001}),
    (FEDSPS_BOUNDS["6(a)"], FEDSPS, {"c": 0.5, "gamma_b": 0.0025}),
    (FEDSPS_BOUNDS["18"], BOUNDED, {"c": 0.5, "gamma_b": 0.001}),
    *(
        (bound, FEDSPEED, {"lr": STEP, "lam": 4 * STEP, "alpha": 1.0, "rho": 0.1, "normalise": False})
        for bound in FEDSPEED_BOUNDS.values()
    ),
    *((bound, FEDAWE, {"lr": 2e-5, "server_lr": 1.0}) for bound in (Theorem1(), Corollary2(), Corollary3())),
]


@pytest.mark.parametrize(("theorem", "c", "values"), [pytest.param(*case, id=case[0].title) for case in CASES])
def test_a_theorem_covers_its_hyper_parameters_and_has_a_bound(theorem, c, values):
    a = algorithms.create(theorem.algorithms[0], values)
    theorem.require(c, a, ROUNDS)
    bounds = theorem.bound(c, a, np.array([1.0, ROUNDS]))
    assert bounds.shape == (2,) and (bounds > 0).all() and np.isfinite(bounds).all()
    assert theorem.bound(c, a, float(ROUNDS)) == bounds[1]


def test_what_a_theorem_does_not_cover():
    theorem, c = FEDRED_BOUNDS["7"], FEDRED
    with pytest.raises(UserError, match="Theorem 7 is about fedred, not dane"):
        theorem.require(c, algorithms.create("dane", {"lam": 1.0}), ROUNDS)
    with pytest.raises(NotCovered, match="Theorem 7 needs averaging = mean, average = weighted for fedred"):
        theorem.require(c, algorithms.create("fedred", PARAMETERS["6"](c)), ROUNDS)


def test_numbers_of_theorems_differ():
    assert len(THEOREMS) == len(CASES) - 3 - 4  # those of FedAWE and of Appendix E are not among them
