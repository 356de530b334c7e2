"""Conformance tests on partial participation."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.history import COST_COLUMNS
from fedatlas.testing import instances
from fedatlas.testing.implementation import (
    CLIENTS,
    Case,
    Implementation,
    all_cases,
    defined_cases,
    require_finite,
    same_bits,
)
from fedatlas.testing.outcomes import Failed, NotApplicable

TINY = 1e-9  # a probability of participation that never happens in a few rounds
LATE: dict[str, Any] = {
    "kind": "phases",
    "p": [1, 1, 1, 1, TINY],
    "then": [[1.0]],
    "length": 3,
}  # client 4 is first active in round 3
ABSENT: dict[str, Any] = {"kind": "stationary", "p": [1, 1, 1, 1, TINY]}
UNSEEN: dict[str, dict[str, Any]] = {
    "a client that comes in round 3": {"participation": LATE},
    "a client that never comes": {"participation": ABSENT},
}
NO_CLIENTS = {"participation": {"kind": "stationary", "p": TINY}}
PARTIAL: dict[str, dict[str, Any]] = {
    "3 of 5 clients in a round": {"participation": {"kind": "uniform", "count": 3}},
    "one client in a round": {"participation": {"kind": "uniform", "count": 1}},
}


def partial_participation(implementation: Implementation) -> None:
    """It runs with a part of the clients, and stays where the gradients of all clients are 0.

    The clients of that problem have one common minimiser, at which the run starts. An algorithm that leaves it under
    full participation too, for example because it adds noise, passes.
    """
    for label, problem, options in _partitioned_cases(implementation, PARTIAL):
        advice = "do not divide by what only absent clients fill."
        require_finite(implementation.run(problem, **options), label, advice)
    _require_fixed_point(implementation)


def unseen_clients(implementation: Implementation) -> None:
    """A client may become active late or never: its first state serves in any round, its data do not count before."""
    advice = "a client's first round may be any round: do not ask for steps.round == 0, and do not divide by 0 rounds."
    for label, problem, options in _partitioned_cases(implementation, UNSEEN):
        require_finite(implementation.run(problem, rounds=6, **options), label, advice)
    problem, flipped = instances.logistic(), instances.logistic()
    assert flipped.partition is not None
    flipped.b[flipped.partition.client(CLIENTS - 1)] *= -1
    # The two problems share their constants, as those of the absent client's data may differ.
    values = {**implementation.known_constants(problem), **implementation.values}
    if implementation.is_defined(problem, participation=ABSENT):
        outputs = [implementation.run(data, values=values, participation=ABSENT).x for data in (problem, flipped)]
        if not same_bits(*outputs):
            raise Failed("The output depends on the data of a client that never takes part: use what clients send.")


def empty_rounds(implementation: Implementation) -> None:
    """A round without any active client costs nothing and, where no client was active before, moves nothing."""
    for label, problem, options in _partitioned_cases(implementation, {"no clients": NO_CLIENTS}):
        history = implementation.run(problem, **options)
        if not same_bits(history.x, problem.start(1)):
            advice = "return s from empty_round, or leave that hook out"
            raise Failed(f"On {label}, the output moves though no client was active: {advice}.")
        if any(history.rows[-1][name] for name in COST_COLUMNS if name != "seconds"):
            raise Failed(f"On {label}, rounds without clients cost something.")


def _partitioned_cases(
    implementation: Implementation, conditions: dict[str, dict[str, Any]] | None = None
) -> Iterator[Case]:
    """Yield the cases whose clients differ. Raises NotApplicable for algorithms of full participation."""
    if implementation.cls.full_participation:
        raise NotApplicable("The algorithm is defined for full participation only.")
    smallest = implementation.smallest_problem
    cases = (
        (label, problem, options)
        for label, problem, options in all_cases(conditions)
        if not problem.shared and (problem is smallest or label.startswith("a network"))
    )
    return defined_cases(implementation, cases)


def _require_fixed_point(implementation: Implementation) -> None:
    """Raise Failed if partial participation leaves a common minimiser that full participation does not leave."""
    problem = instances.common_minimiser()
    minimiser = problem.start(0)

    def distance(**options: Any) -> float:
        x = to_numpy(implementation.run(problem, batch=None, rounds=6, **options).x)
        return float(np.linalg.norm(x - minimiser) / np.linalg.norm(minimiser))

    if distance() > 1e-9:
        return
    for label, options in PARTIAL.items():
        if not (relative := distance(**options)) <= 1e-9:  # also for NaN
            raise Failed(
                f"With {label}, the output leaves the common minimiser of all clients by {relative:.1%}: "
                "`mean` is over the active clients alone, so send changes, such as y - s.x, and add their mean to s.x; "
                "n.active and n.clients are for states that belong to all clients."
            )
