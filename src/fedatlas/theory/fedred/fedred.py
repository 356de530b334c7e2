"""The theorems of Jiang, Rodomanov & Stich (2024) on FedRed."""

from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.theory.fedred.bound import FedRedBound, FedRedConstants, at_least, decay
from fedatlas.theory.theorem import Conditions, Count

if TYPE_CHECKING:
    import pandas as pd


class Theorem6(FedRedBound):
    """Theorem 6: FedRed with exact subproblems and one client's model at random.

    It bounds E|grad f|^2 at an iterate drawn uniformly from k = 0 .. K-1. Whether an iteration communicates is
    independent of it, so the points that are communicated are such a sample: measured is their mean, x0 among them.
    """

    name, algorithms, quantity, convex = "6", ("fedred",), "mean squared gradient norm", False
    counts, counted = "steps", "iterations $K$"

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random, evaluated at x", a.averaging == "random" and a.average == "last"
        yield "lam = delta_B", isclose(a.weight, c.delta_B)
        yield "p = lam / eta", isclose(a.p, a.weight / a.eta)
        yield "eta >= 4 delta_B", at_least(a.eta, 4 * c.delta_B)

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
    counts, counted = "steps", "iterations $K$"

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = mean, average = weighted", a.averaging == "mean" and a.average == "weighted"
        yield "mu = the clients' mu", isclose(a.mu, c.mu)
        yield "p = (lam + mu/2) / (eta +- mu/2)", isclose(a.p, a.theory)
        yield self.sizes(c, a)

    def sizes(self, c: FedRedConstants, a: Any) -> tuple[str, bool]:
        """Return the condition on eta and lambda."""
        return "eta >= lam >= delta_A", a.eta >= a.weight and at_least(a.weight, c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / (2 * a.eta), a.eta, count)


class Theorem9(Theorem7):
    """Theorem 9 without noise: FedRed-GD with mean averaging; its text takes lam = delta_A, Lemma 35 no less."""

    name, algorithms = "9", ("fedred-gd",)

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield from super().requirements(c, rounds)
        yield "delta_A + mu <= L", c.delta_A + c.mu <= c.L

    def sizes(self, c: FedRedConstants, a: Any) -> tuple[str, bool]:
        return "eta >= L and lam >= delta_A", at_least(a.eta, c.L) and at_least(a.weight, c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / (2 * a.eta - 2 * c.mu), a.eta, count)


class Theorem8(Theorem6):
    """Theorem 8 without noise: FedRed-GD with one client's model at random, at an iterate as in Theorem 6."""

    name, algorithms = "8", ("fedred-gd",)

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield "delta_B <= L", c.delta_B <= c.L

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random, evaluated at x", a.averaging == "random" and a.average == "last"
        yield "eta = 6 L", isclose(a.eta, 6 * c.L)
        yield "lam = delta_B", isclose(a.weight, c.delta_B)
        yield "p = delta_B / L", isclose(a.p * c.L, c.delta_B)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 96 * c.L * c.gap / count
