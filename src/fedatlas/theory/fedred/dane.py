"""The theorems and corollaries of Jiang, Rodomanov & Stich (2024) on DANE and DANE+."""

from math import ceil, isclose, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from fedatlas.theory.fedred.bound import FedRedBound, FedRedConstants, at_least, decay, least_square, quotient
from fedatlas.theory.run_bound import Count

if TYPE_CHECKING:
    import pandas as pd


class Theorem1(FedRedBound):
    """Theorem 1: DANE+ with an arbitrary client's model and exact subproblems (e_r = 0), the least squared gradient.

    With lam = a delta_B, a > 1, the bound is 4 (a+1)^2 / (a-1) delta_B gap / R.
    """

    name, algorithms, counts, convex = "1", ("dane",), "round", False
    quantity = "least squared gradient norm so far"

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        return {"lam": 2 * c.delta_B}

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        if a.averaging != "random":
            return "averaging = random"
        return None if a.lam > c.delta_B else "lam > delta_B"

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        ratio = a.lam / c.delta_B
        return 4 * (ratio + 1) ** 2 / (ratio - 1) * c.delta_B * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return least_square(curve)


class Corollary2(FedRedBound):
    """Corollary 2: DANE+ with an arbitrary client's model, from local gradient descent's point of least gradient.

    In its proof (Corollary 30) (lam + L) R / (18 delta_B) local steps of size 1/(L + lam) are enough for R rounds.
    """

    kind, name, algorithms, counts, convex = "Corollary", "2", ("dane+-gd-least",), "round", False
    quantity = "least squared gradient norm so far"

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        lam = 2 * c.delta_B
        return {"lam": lam, "lr": quotient(1, c.L + lam)}

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        if a.averaging != "random":
            return "averaging = random"
        if not isclose(a.lam, 2 * c.delta_B):
            return "lam = 2 delta_B"
        if not isclose(a.lr, 1 / (c.L + a.lam)):
            return "lr = 1 / (L + lam)"
        enough = ceil((a.lam + c.L) / (18 * c.delta_B) * rounds * (1 - 1e-9))
        return None if a.solver_steps >= enough else f"solver_steps >= {enough}"

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 72 * c.delta_B * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return least_square(curve)


class Theorem4(FedRedBound):
    """Theorem 4: DANE+ with mean averaging, the best iterate so far; subproblems exact or to Corollary 5's accuracy.

    That accuracy is certain where the stopping rule's mu is at most that of the clients and ``max_steps`` local steps
    are enough in every round.
    """

    name, counts = "4", "round"
    algorithms: ClassVar[tuple[str, ...]] = ("dane", "dane+-gd", "dane+-fgd")
    quantity = "best suboptimality so far"

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        return {"lam": 2 * c.delta_A}

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        if a.averaging != "mean":
            return "averaging = mean"
        if not at_least(a.lam, 2 * c.delta_A):
            return "lam >= 2 delta_A"
        return None if a.exact_prox else self._inexact_fails(c, a, rounds)

    def _inexact_fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        """Return the condition under which subproblems reach Corollary 5's accuracy that does not hold, or None."""
        if not at_least(c.mu, a.mu):
            return "mu <= the clients' mu"
        if not isfinite(enough := a.sufficient_steps(c.L, max(rounds - 1, 0))):
            return "lr <= 1 / (L + lam)"
        return None if a.max_steps >= enough else f"max_steps >= {enough}"

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

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        lam = 2 * c.delta_A
        return {"lam": lam, "lr": quotient(1, c.L + lam), "mu": c.mu}

    def needs(self, c: FedRedConstants) -> str | None:
        return super().needs(c) or (None if c.delta_A + c.mu <= c.L else "delta_A + mu <= L")

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        return super().fails(c, a, rounds) or (None if isclose(a.lam, 2 * c.delta_A) else "lam = 2 delta_A")

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        rounds = np.asarray(count, float)
        steps = np.array([a.sufficient_steps(c.L, round(float(r)) - 1) for r in rounds.ravel()], float)
        return cast(Count, steps.reshape(rounds.shape) if rounds.ndim else float(steps[0]))

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return np.diff(curve["gradients"].to_numpy(float), prepend=0.0) - 1


class Corollary21(FedRedBound):
    """Corollary 21 (Appendix B): DANE with lam >= delta_A, the suboptimality plus mu/2 |x - x*|^2 of the last iterate.

    The bound is half of Theorem 4's.
    """

    kind, name, algorithms, counts = "Corollary", "21", ("dane",), "round"
    quantity = "suboptimality + $\\mu/2\\,|x - x^*|^2$"

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        return {"lam": c.delta_A}

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        if a.averaging != "mean":
            return "averaging = mean"
        return None if at_least(a.lam, c.delta_A) else "lam >= delta_A"

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / a.lam, a.lam / 2, count)

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve["suboptimality"].to_numpy(float) + c.mu / 2 * curve["distance"].to_numpy(float) ** 2
