"""The constants and the shared formulas of the theorems of Jiang, Rodomanov & Stich (2024)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.base import Problem
from fedatlas.theory.theorem import Conditions, Count, RunTheorem

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FedRedConstants:
    """Constants of a problem and a start x0 in the FedRed paper.

    mu, L: convexity and smoothness of every client's objective. delta_A, delta_B: averaged and bounded Hessian
    dissimilarity (Definitions 2 and 1). D0 = |x0 - x*|. gap = f(x0) - f*.
    """

    mu: float
    L: float
    delta_A: float
    delta_B: float
    D0: float
    gap: float


class FedRedBound(RunTheorem[FedRedConstants]):
    """A theorem or corollary of the FedRed paper, on problems with exact constants."""

    every_round = True
    convex: ClassVar[bool] = True  # whether the objective of every client must be convex

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield "convex clients", not self.convex or c.mu >= 0

    def constants(self, problem: Problem, setting: Setting, curve: "pd.DataFrame") -> FedRedConstants:
        exact = problem.constants()
        values = (exact["mu_min"], exact["L_max"], exact["delta_A"], exact["delta_B"], *_distance_and_gap(curve))
        return FedRedConstants(*map(float, values))

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve["suboptimality"].to_numpy(float)


def at_least(value: float, low: float) -> bool:
    """Return whether value >= low, up to rounding error."""
    return value >= low * (1 - 1e-9)


def decay(c: FedRedConstants, rate: float, weight: float, count: Count) -> Count:
    """Return mu/2 D0^2 / ((1 + rate)^count - 1), or its limit weight D0^2 / count where mu is 0.

    Theorems 4, 7 and 9 and Corollary 21 have this form, with weight * rate = mu/2.
    """
    if c.mu == 0:
        return weight * c.D0**2 / count
    with np.errstate(over="ignore"):
        return c.mu / 2 * c.D0**2 / np.expm1(count * np.log1p(rate))


def least_square(curve: "pd.DataFrame") -> np.ndarray:
    """Return the least squared gradient norm up to each evaluation of a run, its start among them."""
    return np.minimum.accumulate(curve["gradient_norm"].to_numpy(float) ** 2)


def _distance_and_gap(curve: "pd.DataFrame") -> tuple[float, float]:
    """Return D0 and gap of a run.

    Where the optimum is not known, the gap is what the run itself descends. That is no more than f(x0) - f*, so no
    theorem's bound is larger for it.
    """
    first = curve.iloc[0]
    if "suboptimality" in curve and np.isfinite(first["suboptimality"]):
        return float(first["distance"]), float(first["suboptimality"])
    return np.nan, float(first["loss"] - curve["loss"].min())
