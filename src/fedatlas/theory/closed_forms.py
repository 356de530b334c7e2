"""Closed forms of limits, and their estimates from curves."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError

if TYPE_CHECKING:
    import pandas as pd


def fedavg_output(problem: Mapping[str, Any], p: Sequence[float]) -> float:
    """lim E[x^t] of FedAvg over the active on f_i(x) = |x - u_i|^2 / 2 (FedAWE, Figure 2), whatever lr and K.

    problem: specification with one-dimensional ``centers`` u_i. p: each client's probability to be available.
    A round with active clients S moves x by a fixed part of the way to the mean of their u_i. So the limit is the
    expectation of that mean, given that S is not empty.
    """
    u = [center[0] for center in problem["centers"]]
    total = chance = 0.0
    for pattern in itertools.product((False, True), repeat=len(u)):
        active = [center for center, is_active in zip(u, pattern, strict=True) if is_active]
        if active:
            weight = 1.0
            for probability, is_active in zip(p, pattern, strict=True):
                weight *= probability if is_active else 1 - probability
            total, chance = total + weight * sum(active) / len(active), chance + weight
    return total / chance


def weighted_objective(problem: Mapping[str, Any], p: Sequence[float]) -> float:
    """Minimiser sum p_i u_i / sum p_i of FedAWE's equation (3), sum p_i f_i / sum p_j, on the same f_i.

    It is lim E[x^t] of FedAvg over all clients, in which absent clients count as unchanged.
    """
    return sum(chance * center[0] for center, chance in zip(problem["centers"], p, strict=True)) / sum(p)


LIMITS: dict[str, Callable[[Mapping[str, Any], Sequence[float]], float]] = {
    "fedavg-output": fedavg_output,
    "weighted-objective": weighted_objective,
}


def probabilities(setting: Mapping[str, Any], values: Mapping[str, Any]) -> list[float]:
    """Return stationary probabilities of the clients.

    setting: specification. values: by path, such as ``participation.p.0``, of what overrides the setting's. Raises
    UserError unless there is one probability for each client.
    """
    how = values.get("participation", setting.get("participation"))
    p = values.get("participation.p", how.get("p") if isinstance(how, Mapping) else None)
    if not isinstance(p, list):
        raise UserError("the limit needs one probability for each client: participation.p as a list")
    client_p = [values.get(f"participation.p.{i}", value) for i, value in enumerate(p)]
    if not all(isinstance(value, (int, float)) for value in client_p):
        raise UserError(f"the limit needs one probability for each client, not {client_p}")
    return client_p


def validate(problem: Mapping[str, Any], setting: Mapping[str, Any]) -> None:
    """Raise UserError if the closed forms are not about runs of a problem and a setting, given by specifications."""
    if problem.get("curvatures") or any(len(center) != 1 for center in problem.get("centers") or [[]]):
        raise UserError("the limit is known for quadratics that are given by centers of one number, without curvatures")
    probabilities(setting, {})


def late_means(curves: "pd.DataFrame", axes: Sequence[str], metric: str, after: int) -> "pd.Series":
    """Return means of a metric over the evaluations from round ``after`` on, by point of the axes and seed.

    Raises UserError if the curves have no such metric.
    """
    if metric not in curves:
        raise UserError(f"there is no metric {metric!r} in the results")
    return curves[curves["round"] >= after].groupby([*axes, "seed"], sort=False)[metric].mean()
