"""Constants, hyper-parameters and bounds of FedAc's theorems for a problem: the content of `fedatlas theory`."""

import dataclasses
import math
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.problems import interactive
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.constants import fedac_constants
from fedatlas.theory.theorem import unmet


@np.errstate(over="ignore")  # a number that overflows is infinite
def evaluate_theorems(problem_spec: dict[str, Any], clients: int, local_steps: int, steps: int) -> list[str]:
    """Return constants of a problem, then bound and hyper-parameters of each theorem, as lines of text.

    A bound above F(x0) - F* is true and says nothing.

    Args:
        problem_spec: Specification of the problem, as for ``interactive.create``.
        clients: Number of clients M, which share the data.
        local_steps: Local steps K of a round.
        steps: Number of steps T, cut to whole rounds.

    Raises:
        UserError: If a number is too small, or the problem's constants are not known.
    """
    if clients < 1 or local_steps < 1 or steps < local_steps:
        raise UserError("theory: clients and local steps must be at least 1, and steps at least one round of them")
    rounds = steps // local_steps
    c = dataclasses.replace(fedac_constants(interactive.create(problem_spec, clients)), M=clients, K=local_steps)
    T = rounds * local_steps
    lines = [f"M = {clients} clients, K = {local_steps} local steps, R = {rounds} rounds, T = {T} steps", ""]
    lines += [f"{name:<9}{_number(getattr(c, name)):<12}{how}" for name, how in c.how.items()]
    lines += ["", f"{'theorem':<9}{'algorithm':<17}{'bound':<12}with"]
    for theorem in FEDAC_THEOREMS.values():
        start = f"{theorem.name:<9}{theorem.algorithms[0]:<17}"
        if (needs := unmet(theorem.requirements(c, rounds))) is not None:
            lines.append(f"{start}does not apply: needs {needs}")
            continue
        bound = sum(theorem.terms(c, T).values())
        values = ", ".join(f"{option} = {_number(value)}" for option, value in theorem.choices(c, rounds).items())
        lines.append(f"{start}{_number(bound):<12}{values}{'; above F(x0) - F*' if bound >= c.gap else ''}")
    return lines


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else "-"
