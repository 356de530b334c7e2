"""The theorems of Mukherjee, Loizou & Stich (2024) on FedSPS."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fedatlas.federation.engine.history import LOCAL_LOSS
from fedatlas.federation.engine.setting import Setting
from fedatlas.theory import NotCovered
from fedatlas.theory.theorem import C, Conditions, Count, RunTheorem, count_local_steps
from fedatlas.theory.variances import constant_variances, least_value

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FedSPSConstants:
    """Constants of a problem, a start x0 and a setting.

    mu, L: convexity and smoothness of every stochastic function F_i(., xi) (Assumptions 1 and 2). noise: sigma_f^2 =
    f* - mean_i l_i* (equation 5), with l_i* = 0. D0 = |x0 - x*|. tau: local steps of a round.
    """

    mu: float
    L: float
    noise: float
    D0: float
    tau: int


class SimilarBound(RunTheorem[C]):
    """A theorem of the paper, whose bound falls with T = ``count`` local steps, on problems of kind similar."""

    counts, counted = "steps", "local steps $T$"

    def scope(self, problem: Mapping[str, Any], setting: Setting) -> Conditions:
        yield from super().scope(problem, setting)
        kind = problem["kind"]
        yield f"theorem {self.name} is compared with runs on problems of kind similar, not {kind}", kind == "similar"


class FedSPSBound(SimilarBound[FedSPSConstants]):
    """A theorem on FedSPS with l_i* = 0, under full participation."""

    algorithms = ("fedsps",)

    def requirements(self, c: FedSPSConstants, rounds: int) -> Conditions:
        yield "convex clients", c.mu >= 0

    def constants(self, problem: Any, setting: Setting, curve: "pd.DataFrame") -> FedSPSConstants:
        if not problem.uniform or problem.optimum is None:
            raise NotCovered(f"{self.title} needs convex problems whose components have spread < 1")
        exact, D0 = problem.constants(), float(curve["distance"].iloc[0])
        tau = count_local_steps(setting, curve)
        return FedSPSConstants(exact["mu_min"], exact["L_max"], problem.optimum.F, D0, tau)

    def conditions(self, c: FedSPSConstants, a: Any, rounds: int) -> Conditions:
        yield "l_star = 0 and no smoothing", a.l_star == 0 and a.smoothing == "none"


class Theorem3a(FedSPSBound):
    """Theorem 3 (a), equation 6: the mean of f_i(x_t^i) over all clients and local steps.

    Measured is the mean of the minibatch losses F_i(x_t^i, xi_t^i), which has the same expectation.
    """

    name, quantity, square = "3(a)", "mean of $f_i(x_t^i)$ over clients and steps", 2
    over_rounds = "local_loss_mean_rounds_mean"

    def scope(self, problem: Mapping[str, Any], setting: Setting) -> Conditions:
        yield from super().scope(problem, setting)
        recorded = not self.over_rounds or LOCAL_LOSS in (setting.record or ())
        yield f"theorem {self.name} speaks of local iterates: record {LOCAL_LOSS}", recorded

    def choices(self, c: FedSPSConstants, rounds: int) -> dict[str, Any]:
        return {"c": self.square * c.tau**2}

    def conditions(self, c: FedSPSConstants, a: Any, rounds: int) -> Conditions:
        yield from super().conditions(c, a, rounds)
        yield f"c >= {self.square} tau^2", a.c >= self.square * c.tau**2

    def bound(self, c: FedSPSConstants, a: Any, count: Count) -> Count:
        least = least_step(c, a)
        return 2 * c.D0**2 / (count * least) + 4 * a.gamma_b * c.noise / least

    def measured(self, c: FedSPSConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve[self.over_rounds].to_numpy(float)


class Theorem3b(Theorem3a):
    """Theorem 3 (b), equation 7: the squared distance; Corollary 5 where sigma_f^2 is 0."""

    name, quantity, square = "3(b)", "squared distance to the optimum", 4
    over_rounds = ""

    def requirements(self, c: FedSPSConstants, rounds: int) -> Conditions:
        yield "strongly convex clients", c.mu > 0

    def bound(self, c: FedSPSConstants, a: Any, count: Count) -> Count:
        rate = c.mu * least_step(c, a)
        return (1 - rate) ** count / rate * c.D0**2 + 2 * a.gamma_b * c.noise / rate

    def measured(self, c: FedSPSConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve["distance"].to_numpy(float) ** 2


class Theorem6a(FedSPSBound):
    """Theorem 6 (a), with the constants of the last line of its proof (Appendix B.2.3): the mean suboptimality.

    The theorem's mean is over all averages of the clients' iterates, t = 0 .. T-1. Measured is the mean over those that
    are communicated; these are all where tau = 1.
    """

    name, quantity, over_rounds = "6(a)", "mean suboptimality of all iterates", "suboptimality_rounds_mean"
    factors: ClassVar[tuple[float, float]] = (3.0, 12.0)

    def choices(self, c: FedSPSConstants, rounds: int) -> dict[str, Any]:
        return {"c": 0.5, "gamma_b": min(1 / c.L, 1 / (20 * c.L * c.tau))}

    def conditions(self, c: FedSPSConstants, a: Any, rounds: int) -> Conditions:
        yield from super().conditions(c, a, rounds)
        limit = min(1 / (2 * a.c * c.L), 1 / (20 * c.L * c.tau))
        yield "gamma_b <= min(1 / (2 c L), 1 / (20 L tau))", a.gamma_b <= limit * (1 + 1e-9)

    def bound(self, c: FedSPSConstants, a: Any, count: Count) -> Count:
        start, noise = self.factors
        drift = 32 * c.tau**2 * a.gamma_b**2
        return start * c.D0**2 / (count * a.gamma_b) + noise * (a.gamma_b + drift) * c.L * c.noise

    def measured(self, c: FedSPSConstants, curve: "pd.DataFrame") -> np.ndarray:
        return mean_before(curve, self.over_rounds, curve["suboptimality"])


@dataclass(frozen=True)
class BoundedVarianceConstants:
    """Constants of a problem, a start x0 and a setting under Assumptions 1 and 3.

    mu, L: least curvature of any client and smoothness of every stochastic function. sigma2, zeta2: variance of a
    client's stochastic gradient (inequality 42) and of the clients' gradients (43). gap: F_0 = f(x0) - f*, or an upper
    bound. n: clients. tau: local steps of a round.
    """

    mu: float
    L: float
    sigma2: float
    zeta2: float
    gap: float
    n: int
    tau: int


class Theorem18(SimilarBound[BoundedVarianceConstants]):
    """Theorem 18, equation 44, with the constants of the last line of its proof (Appendix E.1.1): FedSPS and FedAvg.

    The theorem is on the least E|grad f|^2 of the averages of the clients' iterates, t = 0 .. T-1, and its proof on
    their mean. Measured is the mean over those that are communicated, which is no less than the least.
    """

    name, quantity, algorithms = "18", "mean $|\\nabla f|^2$ of the iterates", ("fedsps", "fedavg")
    over_rounds = "gradient_norm_rounds_mean_square"

    def scope(self, problem: Mapping[str, Any], setting: Setting) -> Conditions:
        yield from super().scope(problem, setting)
        constant = setting.full_participation and setting.constant_lr
        yield f"theorem {self.name} is about full participation and a constant step size", constant

    def constants(self, problem: Any, setting: Setting, curve: "pd.DataFrame") -> BoundedVarianceConstants:
        zeta2, sigma2 = constant_variances(problem, setting.batch)
        exact, tau = problem.constants(), count_local_steps(setting, curve)
        gap = float(curve["loss"].iloc[0]) - least_value(problem)
        return BoundedVarianceConstants(exact["mu_min"], exact["L_max"], sigma2, zeta2, gap, setting.clients, tau)

    def choices(self, c: BoundedVarianceConstants, rounds: int) -> dict[str, Any]:
        return {"c": 0.5, "gamma_b": 1 / (50 * c.L * c.tau)}  # half of what the step size must lie below

    def conditions(self, c: BoundedVarianceConstants, a: Any, rounds: int) -> Conditions:
        yield "a step size below 1 / (25 L tau)", self.step(a) < 1 / (25 * c.L * c.tau)
        if a.name == "fedavg":
            yield "server_lr = 1", a.server_lr == 1
        else:
            yield "l_star = 0 and no smoothing", a.l_star == 0 and a.smoothing == "none"
            yield "gamma_b < 1 / (2 c L)", a.gamma_b < 1 / (2 * a.c * c.L)

    def step(self, a: Any) -> float:
        """Return the step size: gamma_b of FedSPS, lr of FedAvg."""
        return float(a.lr if a.name == "fedavg" else a.gamma_b)

    def bound(self, c: BoundedVarianceConstants, a: Any, count: Count) -> Count:
        step = self.step(a)
        drift = 512 * (step * c.tau * c.L) ** 2 * (c.sigma2 / c.tau + c.zeta2)
        return 8 * c.gap / (count * step) + 4 * step * c.L * c.sigma2 / c.n + drift

    def measured(self, c: BoundedVarianceConstants, curve: "pd.DataFrame") -> np.ndarray:
        return mean_before(curve, self.over_rounds, curve["gradient_norm"] ** 2)


def mean_before(curve: "pd.DataFrame", over_rounds: str, last: "pd.Series") -> np.ndarray:
    """Return the mean over rounds 0 to T - 1 at the evaluation after each round T of a run; at round 0 that of round 0.

    Args:
        curve: The evaluations, in order.
        over_rounds: Column of the mean over rounds 0 to T.
        last: What the mean is of, in round T.
    """
    T = curve["round"].to_numpy(float)
    total = curve[over_rounds].to_numpy(float) * (T + 1)
    return np.where(T > 0, (total - last.to_numpy(float)) / np.maximum(T, 1), total)


def least_step(c: FedSPSConstants, a: Any) -> float:
    """Return alpha = min(1 / (2 c L), gamma_b), which no step size is below (Lemma 14)."""
    return min(1 / (2 * a.c * c.L), a.gamma_b)


FEDSPS_BOUNDS: dict[str, RunTheorem[Any]] = {
    bound.name: bound() for bound in (Theorem3a, Theorem3b, Theorem6a, Theorem18)
}
