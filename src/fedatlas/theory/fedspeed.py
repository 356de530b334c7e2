"""Theorem 4.4 of Sun et al. (2023) on FedSpeed, as printed and in two readings of its proof."""

import json
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.runs import create, create_setting
from fedatlas.federation import problems
from fedatlas.federation.problems.base import Problem
from fedatlas.theory import NotCovered
from fedatlas.theory.comparison import RunComparison, parts_at, require_over_rounds
from fedatlas.theory.variances import constant_variances, least_value

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.federation.algorithms.fedspeed_analysis import FedSpeedAnalysis

PRINTED, SCALED, NOISE = "4.4", "4.4 scaled", "4.4 with noise"
OVER_ROUNDS = "gradient_norm_rounds_mean_square"
ALGORITHM, RECORDS = "fedspeed-z", ("correction", "mean_correction")


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


def kappa(c: FedSpeedConstants, a: "FedSpeedAnalysis") -> float:
    """Theorem 4.4's kappa."""
    return 1 / 2 - 3 * (a.alpha * c.L * a.rho) ** 2 - 1536 * (a.lr * c.L) ** 2 * c.K


def fails(c: FedSpeedConstants, a: "FedSpeedAnalysis") -> str | None:
    """Return the first condition of Theorem 4.4 that does not hold, or None."""
    if a.normalise:
        return "normalise = false, since rho is a step size in Algorithm 1"
    if a.rho * math.sqrt(6) * a.alpha * c.L > 1:
        return "rho <= 1 / (sqrt(6) alpha L)"
    if a.lr > min(1 / (32 * math.sqrt(3 * c.K) * c.L), 2 * a.lam):
        return "lr <= min(1 / (32 sqrt(3 K) L), 2 lam)"
    if c.K * a.lr < a.lam * (1 - 1e-9):
        return "K >= lam / lr"
    return None if kappa(c, a) > 0 else "kappa > 0"


def bound(name: str, c: FedSpeedConstants, a: "FedSpeedAnalysis", T: np.ndarray) -> np.ndarray:
    """Return the bound (6) on (1/T) sum_{t=1}^{T-1} E|grad F(z^t)|^2 for T rounds: an array over T.

    ``4.4 scaled`` has the powers of the proof: eta_l^2 in the second term, as in the bound on R1.a, and no factor
    lambda in Phi, since Section C.4.3 divides by lambda kappa but keeps lambda in the last two terms. Then both sides
    scale alike if the objective is multiplied by a number. ``4.4 with noise`` has, in addition, the variance of the
    mean quasi-gradient, L lambda sigma_l^2 sum_k (gamma_k / gamma)^2 / (2 m kappa). The descent lemma has it (R2), and
    Section C.4.3 cancels R2 against the norm of an expectation, which is smaller.
    """
    lr, weight = (a.lr, a.lam) if name == PRINTED else (a.lr**2, 1.0)
    start = 2 * c.gap / a.lam + 64 * lr * c.L**2 * c.K * c.local + 32 * (a.lam * c.L) ** 2 * c.common
    drift = 32 * (a.lr * c.L) ** 2 * c.K * (16 * c.sigma_g**2 + c.sigma_l**2)
    ascent = (a.alpha * c.L * a.rho) ** 2 * (3 * c.sigma_g**2 + c.sigma_l**2)
    rest = weight * (drift + ascent)
    if name == NOISE:
        weights, gamma = a.weights(c.K)
        rest += c.L * a.lam * c.sigma_l**2 * sum((w / gamma) ** 2 for w in weights) / (2 * c.m)
    return (start / T + rest) / kappa(c, a)


def running_means(curve: "pd.DataFrame") -> "pd.Series":
    """Return (1/T) sum_{t=1}^{T-1} |grad F(z^t)|^2 by T, the round of each evaluation of a run from 2 on.

    Args:
        curve: The evaluations, in order from round 0.
    """
    curve = curve.set_index("round")
    squares, T = curve["gradient_norm"] ** 2, curve.index.to_numpy(float)
    total = curve[OVER_ROUNDS] * (T + 1)  # of rounds 0 to T
    means = (total - squares - squares.iloc[0]) / np.maximum(T, 1)
    return means[T >= 2]


def compare_runs(name: str, view: ExperimentView, id: str, rows: "pd.DataFrame") -> Iterator[RunComparison]:
    """Compare the runs of an algorithm in one setting with the bound, after each evaluated number T >= 2 of rounds.

    In the bound, E is replaced by the run's own values. The bound is linear in these, so what the theorem says is that
    the mean of measured - bound is not positive. What a run that diverged did not measure is not a number.

    Args:
        name: The reading of the theorem.
        view: ExperimentView of the experiment.
        id: The algorithm's id in the experiment.
        rows: The evaluations of the runs, of the curves.

    Raises:
        NotCovered: If a condition of the theorem does not hold.
        UserError: If the theorem is not about the runs.
    """
    algorithm, problem, batch = _build(view, id, rows.head(1).to_dict("records")[0])
    longest = rows[rows["seed"] == rows["seed"].value_counts().idxmax()]
    T = np.sort(longest["round"][longest["round"] >= 2])
    for seed, curve in rows.groupby("seed"):
        curve = curve.sort_values("round")
        if len(curve) < 3:  # diverged in the first round, of which the constants are
            yield RunComparison(seed, T, np.full(len(T), np.nan), np.full(len(T), np.nan))
            continue
        c = fedspeed_constants(problem, curve, batch)
        if (condition := fails(c, algorithm)) is not None:
            raise NotCovered(f"theorem {name} needs {condition}")
        yield RunComparison(seed, T, running_means(curve).reindex(T).to_numpy(), bound(name, c, algorithm, T))


def validate_run(run: Run) -> None:
    """Raise UserError if the theorem is not about a run, or the run does not record what it needs."""
    kind, setting = problems.get(run.problem["kind"]), create_setting(run)
    if run.algorithm != ALGORITHM or run.tune or kind.on_data or "L_max" not in kind.constants:
        raise UserError(f"theorem 4.4 is compared with runs of {ALGORITHM} on synthetic quadratics, without tuning")
    if not setting.full_participation:
        raise UserError("theorem 4.4 is about full participation")
    if setting.eval_grid[:3] != [0, 1, 2] or not set(RECORDS) <= set(setting.record or ()):
        raise UserError(
            "theorem 4.4 needs two rounds or more, evaluations after the first two, as with eval_points or "
            f"eval_rounds: 1, and record: [{', '.join(RECORDS)}]"
        )
    require_over_rounds("theorem 4.4", OVER_ROUNDS, setting)


def _build(view: ExperimentView, id: str, row: Mapping[Hashable, Any]) -> tuple[Any, Problem, int | None]:
    """Algorithm, problem and minibatch of the runs at the point of the axes where a row lies."""
    entry = view.algorithms[id]
    parts = parts_at(view, row, view.setting | entry.setting, entry.set)
    run = Run(entry.algorithm, seed=0, within={}, tune=dict.fromkeys(entry.tune), **parts)
    validate_run(run)
    problem = problems.create(json.loads(json.dumps(parts["problem"])), parts["setting"]["clients"])
    algorithm, setting = create(run, problem)
    return algorithm, problem, setting.batch


def fedspeed_constants(problem: Problem, curve: "pd.DataFrame", batch: int | None) -> FedSpeedConstants:
    """Return constants of a problem and of a run. curve: its rows of rounds 0, 1, .... batch: samples of a minibatch.

    Raises NotCovered where the problem lacks one of them.
    """
    heterogeneity, noise = constant_variances(problem, batch)
    return FedSpeedConstants(
        L=problem.constants()["L_max"],
        sigma_g=math.sqrt(heterogeneity),
        sigma_l=math.sqrt(noise),
        m=problem.clients or 1,
        K=int(curve["steps"].iloc[1]),
        gap=float(curve["loss"].iloc[1]) - least_value(problem),
        local=float(curve[f"{RECORDS[0]}_mean"].iloc[1]),
        common=float(curve[f"{RECORDS[1]}_mean"].iloc[2]),
    )
