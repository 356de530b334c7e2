"""The theorems of Jiang, Rodomanov & Stich (2024) on FedRed."""

from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.theory.fedred.bound import FedRedBound, FedRedConstants, at_least, decay, quotient
from fedatlas.theory.run_bound import Count

if TYPE_CHECKING:
    import pandas as pd


class Theorem6(FedRedBound):
    """Theorem 6: FedRed with exact subproblems and one client's model at random.

    It bounds E|grad f|^2 at an iterate drawn uniformly from k = 0 .. K-1. Whether an iteration communicates is
    independent of it, so the points that are communicated are such a sample: measured is their mean, x0 among them.
    """

    name, algorithms, quantity, convex = "6", ("fedred",), "mean squared gradient norm", False

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        return {"eta": 4 * c.delta_B, "lam": c.delta_B, "p": 1 / 4}

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        if a.averaging != "random" or a.average != "last":
            return "averaging = random, evaluated at x"
        if not isclose(a.weight, c.delta_B):
            return "lam = delta_B"
        if not isclose(a.p, a.weight / a.eta):
            return "p = lam / eta"
        return None if at_least(a.eta, 4 * c.delta_B) else "eta >= 4 delta_B"

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 150 * a.eta * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        square = curve["gradient_norm"].to_numpy(float) ** 2
        return np.concatenate([square[:1], np.cumsum(square)[:-1] / np.arange(1, len(square))])


class Theorem6Shifted(Theorem6):
    """Theorem 6 for an iterate of k = 1 .. K, to which its proof (B.154) sums up: x0 is not among them."""

    name, kind = "B.154", "Equation"

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        square = curve["gradient_norm"].to_numpy(float) ** 2
        return np.concatenate([square[:1], np.cumsum(square[1:]) / np.arange(1, len(square))])


class Theorem7(FedRedBound):
    """Theorem 7: FedRed with exact subproblems and mean averaging, at the weighted average of all iterates."""

    name, algorithms, quantity = "7", ("fedred",), "suboptimality of the weighted average"

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        lam, eta = c.delta_A, 4 * c.delta_A
        return {"eta": eta, "lam": lam, "p": quotient(lam + c.mu / 2, eta + c.mu / 2)}

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        if a.averaging != "mean" or a.average != "weighted":
            return "averaging = mean, average = weighted"
        if not isclose(a.mu, c.mu):
            return "mu = the clients' mu"
        if not isclose(a.p, a.theory):
            return "p = (lam + mu/2) / (eta +- mu/2)"
        return self._sizes_fail(c, a)

    def _sizes_fail(self, c: FedRedConstants, a: Any) -> str | None:
        """Return the condition on eta and lambda that does not hold, or None."""
        return None if a.eta >= a.weight and at_least(a.weight, c.delta_A) else "eta >= lam >= delta_A"

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / (2 * a.eta), a.eta, count)


class Theorem9(Theorem7):
    """Theorem 9 without noise: FedRed-GD with mean averaging; its text takes lam = delta_A, Lemma 35 no less."""

    name, algorithms = "9", ("fedred-gd",)

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        lam, eta = c.delta_A, c.L
        return {"eta": eta, "lam": lam, "p": quotient(lam + c.mu / 2, eta - c.mu / 2)}

    def needs(self, c: FedRedConstants) -> str | None:
        return super().needs(c) or (None if c.delta_A + c.mu <= c.L else "delta_A + mu <= L")

    def _sizes_fail(self, c: FedRedConstants, a: Any) -> str | None:
        return None if at_least(a.eta, c.L) and at_least(a.weight, c.delta_A) else "eta >= L and lam >= delta_A"

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / (2 * a.eta - 2 * c.mu), a.eta, count)


class Theorem8(Theorem6):
    """Theorem 8 without noise: FedRed-GD with one client's model at random, at an iterate as in Theorem 6."""

    name, algorithms = "8", ("fedred-gd",)

    def choices(self, c: FedRedConstants) -> dict[str, float]:
        return {"eta": 6 * c.L, "lam": c.delta_B, "p": quotient(c.delta_B, c.L)}

    def needs(self, c: FedRedConstants) -> str | None:
        return None if c.delta_B <= c.L else "delta_B <= L"

    def fails(self, c: FedRedConstants, a: Any, rounds: int) -> str | None:
        if a.averaging != "random" or a.average != "last":
            return "averaging = random, evaluated at x"
        values, words = {"eta": a.eta, "lam": a.weight, "p": a.p}, {"eta": "6 L", "lam": "delta_B", "p": "delta_B / L"}
        return next((f"{k} = {words[k]}" for k, v in self.choices(c).items() if not isclose(values[k], v)), None)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 96 * c.L * c.gap / count
