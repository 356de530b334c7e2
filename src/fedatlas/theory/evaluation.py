"""Constants, hyper-parameters and bounds of the papers' theorems for a problem: the content of `fedatlas theory`."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.problems import interactive
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.constants import fedac_constants
from fedatlas.theory.fedred import FEDRED_BOUNDS
from fedatlas.theory.fedred.constants import fedred_constants
from fedatlas.theory.theorem import Theorem, unmet


@np.errstate(over="ignore")  # a number that overflows is infinite
def evaluate_theorems(problem_spec: dict[str, Any], clients: int, local_steps: int, steps: int) -> list[str]:
    """Return constants of a problem, then bound and hyper-parameters of each theorem, as lines of text.

    The theorems are those on FedAc where all clients share the data, and those on DANE+ and FedRed where they differ. A
    bound above F(x0) - F* is true and says nothing.

    Args:
        problem_spec: Specification of the problem, as for ``interactive.create``.
        clients: Number of clients M.
        local_steps: Local steps K of a round.
        steps: Number of steps T, cut to whole rounds.

    Raises:
        UserError: If a number is too small, or the problem's constants are not known.
    """
    if clients < 1 or local_steps < 1 or steps < local_steps:
        raise UserError("theory: clients and local steps must be at least 1, and steps at least one round of them")
    rounds = steps // local_steps
    problem = interactive.create(problem_spec, clients)
    theorems: Mapping[str, Theorem[Any]]
    c: Any
    if problem.shared:
        c = dataclasses.replace(fedac_constants(problem), M=clients, K=local_steps)
        origins, theorems = c.how, FEDAC_THEOREMS
    else:
        (c, origins), theorems = fedred_constants(problem, clients), FEDRED_BOUNDS
    T = rounds * local_steps
    lines = [f"M = {clients} clients, K = {local_steps} local steps, R = {rounds} rounds, T = {T} steps", ""]
    lines += [f"{name:<9}{_number(getattr(c, name)):<12}{how}" for name, how in origins.items()]
    lines += ["", f"{'theorem':<9}{'algorithm':<17}{'bound':<12}with"]
    for theorem in theorems.values():
        evaluated = _evaluated(theorem, c, rounds, T)
        lines.append(f"{theorem.name:<9}{theorem.algorithms[0]:<17}{evaluated}")
    if any(how.startswith("estimate") for how in origins.values()):
        lines += ["", "Estimates of delta_A and delta_B are lower bounds; the theorems may ask for more."]
    return lines


def _evaluated(theorem: Theorem[Any], c: Any, rounds: int, steps: int) -> str:
    """Return a theorem's bound after so many rounds or steps, and the hyper-parameters that it takes, in words."""
    if (needs := unmet(theorem.requirements(c, rounds))) is not None:
        return f"does not apply: needs {needs}"
    choices, name, bound = theorem.choices(c, rounds), theorem.algorithms[0], math.nan
    numbers = [value for value in choices.values() if isinstance(value, float)]
    if all(math.isfinite(value) and value > 0 for value in numbers):
        mu = {"mu": c.mu} if "mu" in algorithms.get(name).options() and c.mu >= 0 else {}
        algorithm = algorithms.create(name, mu | choices)
        bound = float(theorem.bound(c, algorithm, rounds if theorem.counts == "round" else steps))
    quantity = theorem.quantity.replace("$", "").replace(r"\mu", "mu").replace(r"\,", " ").replace("^*", "*")
    remark = ", above F(x0) - F*" if theorem.quantity == "suboptimality" and bound >= c.gap else ""
    values = ", ".join(f"{option} = {_number(value)}" for option, value in choices.items())
    return f"{_number(bound):<12}{values}; {quantity}{remark}"


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else "-"
