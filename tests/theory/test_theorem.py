"""The interface that all theorems share."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.theory import NotCovered
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.theorem import FedAcConstants
from fedatlas.theory.fedawe.bounds import Corollary2, Corollary3, FedAWEConstants, Theorem1
from fedatlas.theory.fedred import FEDRED_BOUNDS, FedRedConstants
from fedatlas.theory.fedspeed import FEDSPEED_BOUNDS, FedSpeedConstants
from fedatlas.theory.fedsps import FEDSPS_BOUNDS, BoundedVarianceConstants, FedSPSConstants
from fedatlas.theory.theorems import THEOREMS

FEDSPS = FedSPSConstants(mu=0.5, L=10, noise=3, D0=2, tau=2)
BOUNDED = BoundedVarianceConstants(mu=-1, L=10, sigma2=3, zeta2=2, gap=7, n=4, tau=2)
CASES = [
    (FEDAC_THEOREMS, FedAcConstants(L=10, mu=0.5, sigma=1, sigma4=2, Q=1, D0=2, gap=8, M=4, K=2)),
    (FEDRED_BOUNDS, FedRedConstants(mu=0.5, L=10, delta_A=1, delta_B=1.5, D0=2, gap=8)),
    ({name: bound for name, bound in FEDSPS_BOUNDS.items() if name != "18"}, FEDSPS),
    ({"18": FEDSPS_BOUNDS["18"]}, BOUNDED),
    (FEDSPEED_BOUNDS, FedSpeedConstants(L=2, sigma_g=3, sigma_l=0.5, m=2, K=4, gap=7, local=11, common=5)),
    (
        {bound.title: bound for bound in (Theorem1(), Corollary2(), Corollary3())},
        FedAWEConstants(m=2, s=2, L=1, sigma2=9, zeta2=25, gap=3, delta=0.5, delta_max=1, rho=0.5),
    ),
]
ALL = [pytest.param(theorem, c, id=theorem.title) for theorems, c in CASES for theorem in theorems.values()]
ROUNDS = 1000


def create(theorem, c):
    """Return the theorem's algorithm with its choices, and with what no constant chooses."""
    cls = ALGORITHMS.get(theorem.algorithms[0])
    random = theorem.name in ("1", "2", "6", "B.154", "8")
    others = {"averaging": "random", "average": "last"} if random else {"averaging": "mean", "average": "weighted"}
    others |= {"mu": 0.5, "solver_steps": 1000, "gamma_b": 0.001}
    known = {name: value for name, value in others.items() if name in cls.options()}
    return ALGORITHMS.create(cls.name, known | theorem.choices(c, ROUNDS))


@pytest.mark.parametrize(("theorem", "c"), ALL)
def test_choices_keep_the_conditions_and_have_a_bound(theorem, c):
    a, counts = create(theorem, c), np.array([1.0, ROUNDS])
    theorem.require(c, a, ROUNDS)
    bounds = theorem.bound(c, a, counts)
    assert bounds.shape == (2,) and (bounds > 0).all() and np.isfinite(bounds).all()
    assert theorem.bound(c, a, float(ROUNDS)) == bounds[1]


def test_what_a_theorem_does_not_cover():
    theorem, c = FEDRED_BOUNDS["7"], CASES[1][1]
    with pytest.raises(UserError, match="Theorem 7 is about fedred, not dane"):
        theorem.require(c, ALGORITHMS.create("dane", {"lam": 1.0}), ROUNDS)
    with pytest.raises(NotCovered, match="Theorem 7 needs averaging = mean, average = weighted for fedred"):
        theorem.require(c, ALGORITHMS.create("fedred", theorem.choices(c, ROUNDS)), ROUNDS)


def test_numbers_of_theorems_differ():
    assert len(THEOREMS) == sum(len(theorems) for theorems, _ in CASES[:5]) - 4  # Appendix E is not compared with runs
