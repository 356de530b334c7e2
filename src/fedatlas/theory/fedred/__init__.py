"""The theorems of Jiang, Rodomanov & Stich (2024) on FedRed, and all of their theorems by number."""

from math import isclose

import numpy as np

from fedatlas.errors import lookup
from fedatlas.theory.bound import Bound, at_least, decay, quotient
from fedatlas.theory.dane import Corollary2, Corollary5, Corollary21, Theorem1, Theorem4


class Theorem6(Bound):
    """Theorem 6: FedRed with exact subproblems and one client's model at random.

    It bounds E|grad f|^2 at an iterate drawn uniformly from k = 0 .. K-1. Whether an iteration communicates is
    independent of it, so the points that are communicated are such a sample: measured is their mean, x0 among them.
    """

    name, algorithms, quantity, convex = "6", ("fedred",), "mean squared gradient norm", False

    def choices(self, c):
        return {"eta": 4 * c.delta_B, "lam": c.delta_B, "p": 1 / 4}

    def fails(self, c, a, rounds):
        if a.averaging != "random" or a.average != "last":
            return "averaging = random, evaluated at x"
        if not isclose(a.weight, c.delta_B):
            return "lam = delta_B"
        if not isclose(a.p, a.weight / a.eta):
            return "p = lam / eta"
        return None if at_least(a.eta, 4 * c.delta_B) else "eta >= 4 delta_B"

    def bound(self, c, a, count):
        return 150 * a.eta * c.gap / count

    def measured(self, c, curve):
        square = curve["gradient_norm"].to_numpy(float) ** 2
        return np.concatenate([square[:1], np.cumsum(square)[:-1] / np.arange(1, len(square))])


class Theorem7(Bound):
    """Theorem 7: FedRed with exact subproblems and mean averaging, at the weighted average of all iterates."""

    name, algorithms, quantity = "7", ("fedred",), "suboptimality of the weighted average"

    def choices(self, c):
        lam, eta = c.delta_A, 4 * c.delta_A
        return {"eta": eta, "lam": lam, "p": quotient(lam + c.mu / 2, eta + c.mu / 2)}

    def fails(self, c, a, rounds):
        if a.averaging != "mean" or a.average != "weighted":
            return "averaging = mean, average = weighted"
        if not isclose(a.mu, c.mu):
            return "mu = the clients' mu"
        if not isclose(a.p, a.theory):
            return "p = (lam + mu/2) / (eta +- mu/2)"
        return self._sizes(c, a)

    def _sizes(self, c, a):
        return None if a.eta >= a.weight and at_least(a.weight, c.delta_A) else "eta >= lam >= delta_A"

    def bound(self, c, a, count):
        return decay(c, c.mu / (2 * a.eta), a.eta, count)


class Theorem9(Theorem7):
    """Theorem 9 without noise: FedRed-GD with mean averaging; its text takes lam = delta_A, Lemma 35 no less."""

    name, algorithms = "9", ("fedred-gd",)

    def choices(self, c):
        lam, eta = c.delta_A, c.L
        return {"eta": eta, "lam": lam, "p": quotient(lam + c.mu / 2, eta - c.mu / 2)}

    def needs(self, c):
        return super().needs(c) or (None if c.delta_A + c.mu <= c.L else "delta_A + mu <= L")

    def _sizes(self, c, a):
        return None if at_least(a.eta, c.L) and at_least(a.weight, c.delta_A) else "eta >= L and lam >= delta_A"

    def bound(self, c, a, count):
        return decay(c, c.mu / (2 * a.eta - 2 * c.mu), a.eta, count)


class Theorem8(Theorem6):
    """Theorem 8 without noise: FedRed-GD with one client's model at random, at an iterate as in Theorem 6."""

    name, algorithms = "8", ("fedred-gd",)

    def choices(self, c):
        return {"eta": 6 * c.L, "lam": c.delta_B, "p": quotient(c.delta_B, c.L)}

    def needs(self, c):
        return None if c.delta_B <= c.L else "delta_B <= L"

    def fails(self, c, a, rounds):
        if a.averaging != "random" or a.average != "last":
            return "averaging = random, evaluated at x"
        found, words = {"eta": a.eta, "lam": a.weight, "p": a.p}, {"eta": "6 L", "lam": "delta_B", "p": "delta_B / L"}
        return next((f"{k} = {words[k]}" for k, v in self.choices(c).items() if not isclose(found[k], v)), None)

    def bound(self, c, a, count):
        return 96 * c.L * c.gap / count


KNOWN = (Theorem1, Corollary2, Theorem4, Corollary5, Theorem6, Theorem7, Theorem8, Theorem9, Corollary21)
BOUNDS: dict[str, Bound] = {theorem.name: theorem() for theorem in KNOWN}  # one numbering for theorems and corollaries


def theorem(name: int | str) -> Bound:
    """The theorem or corollary of a number. Raises UserError, with a guess, if there is none."""
    return lookup("theorem", str(name), BOUNDS)
