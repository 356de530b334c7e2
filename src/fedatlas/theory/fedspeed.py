"""Theorem 4.4 of Sun et al. (2023) on FedSpeed, as printed and in two interpretations of its proof."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.base import Problem
from fedatlas.theory.theorem import Conditions, Count, RunTheorem, count_local_steps
from fedatlas.theory.variances import constant_variances, least_value

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.federation.algorithms.fedspeed_analysis import FedSpeedAnalysis

RECORDS = ("correction", "mean_correction")


@dataclass(frozen=True)
class FedSpeedConstants:
    """Constants of a problem, and of the first round of a run.

    L: smoothness of every client's objective. sigma_g, sigma_l: heterogeneity and noise (Assumptions 4.3 and 4.2). m,
    K: clients and local steps. gap: F(z^1) - F*, or an upper bound. local, common: mean_i |c_i|^2 and |mean_i c_i|^2
    after the first round, with the corrections c.
    """

    L: float
    sigma_g: float
    sigma_l: float
    m: int
    K: int
    gap: float
    local: float
    common: float


class Printed(RunTheorem[FedSpeedConstants]):
    """Theorem 4.4: the bound (6) on (1/T) sum_{t=1}^{T-1} E|grad F(z^t)|^2 for T = ``count`` rounds.

    In the bound, E is replaced by the run's own values. The bound is linear in these, so what the theorem says is that
    the mean of measured - bound is not positive.
    """

    name, algorithms, quantity = "4.4", ("fedspeed-z",), r"mean of $|\nabla F(z^t)|^2$"
    in_mean, exact, since, over_rounds = True, {"L_max"}, 2, "gradient_norm_rounds_mean_square"

    def scope(self, problem: Mapping[str, Any], setting: Setting) -> Conditions:
        yield "theorem 4.4 is about full participation", setting.full_participation
        sentence = (
            "theorem 4.4 needs two rounds or more, evaluations after the first two, as with eval_points or "
            f"eval_rounds: 1, and record: [{', '.join(RECORDS)}]"
        )
        yield sentence, setting.eval_grid[:3] == [0, 1, 2] and set(RECORDS) <= set(setting.record or ())
        yield from super().scope(problem, setting)

    def constants(self, problem: Problem, setting: Setting, curve: "pd.DataFrame") -> FedSpeedConstants:
        heterogeneity, noise = constant_variances(problem, setting.batch)
        rounds = curve.set_index("round").reindex([1, 2])  # not a number of a run that diverged in them
        return FedSpeedConstants(
            L=problem.constants()["L_max"],
            sigma_g=math.sqrt(heterogeneity),
            sigma_l=math.sqrt(noise),
            m=setting.clients,
            K=count_local_steps(setting, curve),
            gap=float(rounds["loss"][1]) - least_value(problem),
            local=float(rounds[f"{RECORDS[0]}_mean"][1]),
            common=float(rounds[f"{RECORDS[1]}_mean"][2]),
        )

    def choices(self, c: FedSpeedConstants, rounds: int) -> dict[str, Any]:
        """Return half of the largest step sizes, for which kappa = 1/4; the largest of both make it negative."""
        lr = 1 / (64 * math.sqrt(3 * c.K) * c.L)
        return {"lr": lr, "lam": c.K * lr, "alpha": 1.0, "rho": 1 / (math.sqrt(24) * c.L), "normalise": False}

    def conditions(self, c: FedSpeedConstants, a: "FedSpeedAnalysis", rounds: int) -> Conditions:
        yield "normalise = false, since rho is a step size in Algorithm 1", not a.normalise
        yield "rho <= 1 / (sqrt(6) alpha L)", a.rho * math.sqrt(6) * a.alpha * c.L <= 1
        yield "lr <= min(1 / (32 sqrt(3 K) L), 2 lam)", a.lr <= min(1 / (32 * math.sqrt(3 * c.K) * c.L), 2 * a.lam)
        yield "K >= lam / lr", c.K * a.lr >= a.lam * (1 - 1e-9)
        yield "kappa > 0", self.kappa(c, a) > 0

    def kappa(self, c: FedSpeedConstants, a: "FedSpeedAnalysis") -> float:
        """Return Theorem 4.4's kappa."""
        return 1 / 2 - 3 * (a.alpha * c.L * a.rho) ** 2 - 1536 * (a.lr * c.L) ** 2 * c.K

    def bound(self, c: FedSpeedConstants, a: "FedSpeedAnalysis", count: Count) -> Count:
        lr, weight = self.powers(a)
        start = 2 * c.gap / a.lam + 64 * lr * c.L**2 * c.K * c.local + 32 * (a.lam * c.L) ** 2 * c.common
        drift = 32 * (a.lr * c.L) ** 2 * c.K * (16 * c.sigma_g**2 + c.sigma_l**2)
        ascent = (a.alpha * c.L * a.rho) ** 2 * (3 * c.sigma_g**2 + c.sigma_l**2)
        return (start / count + (weight * (drift + ascent) + self.noise(c, a))) / self.kappa(c, a)

    def powers(self, a: "FedSpeedAnalysis") -> tuple[float, float]:
        """Return the factor of the second term, and that of Phi."""
        return a.lr, a.lam

    def noise(self, c: FedSpeedConstants, a: "FedSpeedAnalysis") -> float:
        """Return the variance of the mean quasi-gradient times kappa, which the theorem lacks."""
        return 0.0

    def measured(self, c: FedSpeedConstants, curve: "pd.DataFrame") -> np.ndarray:
        squares, T = curve["gradient_norm"].to_numpy(float) ** 2, curve["round"].to_numpy(float)
        total = curve[self.over_rounds].to_numpy(float) * (T + 1)  # of rounds 0 to T
        return (total - squares - squares[0]) / np.maximum(T, 1)


class Scaled(Printed):
    """Theorem 4.4 with the powers of its proof, with which both sides scale alike if the objective does.

    They are eta_l^2 in the second term, as in the bound on R1.a, and no factor lambda in Phi, since Section C.4.3
    divides by lambda kappa but keeps lambda in the last two terms.
    """

    name = "4.4 scaled"

    def powers(self, a: "FedSpeedAnalysis") -> tuple[float, float]:
        return a.lr**2, 1.0


class WithNoise(Scaled):
    """Theorem 4.4 with, in addition, the variance of the mean quasi-gradient.

    It is L lambda sigma_l^2 sum_k (gamma_k / gamma)^2 / (2 m kappa). The descent lemma has it (R2), and Section C.4.3
    cancels R2 against the norm of an expectation, which is smaller.
    """

    name = "4.4 with noise"

    def noise(self, c: FedSpeedConstants, a: "FedSpeedAnalysis") -> float:
        weights, gamma = a.weights(c.K)
        return float(c.L * a.lam * c.sigma_l**2 * sum((w / gamma) ** 2 for w in weights) / (2 * c.m))


FEDSPEED_BOUNDS: dict[str, RunTheorem[Any]] = {bound.name: bound() for bound in (Printed, Scaled, WithNoise)}
