"""The theorems and corollaries of Jiang, Rodomanov & Stich (2024) on DANE and DANE+."""

from math import ceil, isclose, isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fedatlas.theory.fedred.bound import FedRedBound, FedRedConstants, at_least, decay, least_square
from fedatlas.theory.theorem import Conditions, Count, at_each

if TYPE_CHECKING:
    import pandas as pd


class Theorem1(FedRedBound):
    """Theorem 1: DANE+ with an arbitrary client's model and exact subproblems (e_r = 0), the least squared gradient.

    With lam = a delta_B, a > 1, the bound is 4 (a+1)^2 / (a-1) delta_B gap / R.
    """

    name, algorithms, convex = "1", ("dane",), False
    quantity = "least squared gradient norm so far"

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random", a.averaging == "random"
        yield "lam > delta_B", a.lam > c.delta_B

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        ratio = a.lam / c.delta_B
        return 4 * (ratio + 1) ** 2 / (ratio - 1) * c.delta_B * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return least_square(curve)


class Corollary2(FedRedBound):
    """Corollary 2: DANE+ with an arbitrary client's model, from local gradient descent's point of least gradient.

    In its proof (Corollary 30) (lam + L) R / (18 delta_B) local steps of size 1/(L + lam) are enough for R rounds.
    """

    kind, name, algorithms, convex = "Corollary", "2", ("dane+-gd-least",), False
    quantity = "least squared gradient norm so far"

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random", a.averaging == "random"
        yield "lam = 2 delta_B", isclose(a.lam, 2 * c.delta_B)
        yield "lr = 1 / (L + lam)", isclose(a.lr, 1 / (c.L + a.lam))
        enough = ceil((a.lam + c.L) / (18 * c.delta_B) * rounds * (1 - 1e-9))
        yield f"solver_steps >= {enough}", a.solver_steps >= enough

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 72 * c.delta_B * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return least_square(curve)


class Theorem4(FedRedBound):
    """Theorem 4: DANE+ with mean averaging, the best iterate so far; subproblems exact or to Corollary 5's accuracy.

    That accuracy is certain where the stopping rule's mu is at most that of the clients and ``max_steps`` local steps
    are enough in every round.
    """

    name = "4"
    algorithms: ClassVar[tuple[str, ...]] = ("dane", "dane+-gd", "dane+-fgd")
    quantity = "best suboptimality so far"

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = mean", a.averaging == "mean"
        yield "lam >= 2 delta_A", at_least(a.lam, 2 * c.delta_A)
        if "prox" not in a.requires:  # under which subproblems reach Corollary 5's accuracy
            yield "mu <= the clients' mu", at_least(c.mu, a.mu)
            enough = a.sufficient_steps(c.L, max(rounds - 1, 0))
            yield "lr <= 1 / (L + lam)", isfinite(enough)
            yield f"max_steps >= {enough}", a.max_steps >= enough

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 2 * decay(c, c.mu / a.lam, a.lam / 2, count)

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        gap = curve["suboptimality"].to_numpy(float)
        return np.concatenate([gap[:1], np.minimum.accumulate(gap[1:])])


class Corollary5(Theorem4):
    """Corollary 5: the local steps of DANE+-GD and DANE+-FGD in each round, on average over clients.

    The bound is the number of steps that its proof asks for, with all constants. A round takes one gradient for the
    control variate, and one for each local step, at the point to which it leads.
    """

    kind, name, algorithms = "Corollary", "5", ("dane+-gd", "dane+-fgd")
    quantity = "local steps of the round"

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield from super().requirements(c, rounds)
        yield "delta_A + mu <= L", c.delta_A + c.mu <= c.L

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield from super().conditions(c, a, rounds)
        yield "lam = 2 delta_A", isclose(a.lam, 2 * c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return at_each(lambda number: float(a.sufficient_steps(c.L, round(number) - 1)), count)

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return np.diff(curve["gradients"].to_numpy(float), prepend=0.0) - 1


class Corollary21(FedRedBound):
    """Corollary 21 (Appendix B): DANE with lam >= delta_A, the suboptimality plus mu/2 |x - x*|^2 of the last iterate.

    The bound is half of Theorem 4's.
    """

    kind, name, algorithms = "Corollary", "21", ("dane",)
    quantity = "suboptimality + $\\mu/2\\,|x - x^*|^2$"

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = mean", a.averaging == "mean"
        yield "lam >= delta_A", at_least(a.lam, c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / a.lam, a.lam / 2, count)

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve["suboptimality"].to_numpy(float) + c.mu / 2 * curve["distance"].to_numpy(float) ** 2
