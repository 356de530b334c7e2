"""Checks of rounds in which clients are away."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fedatlas.federation.arrays import to_numpy
from fedatlas.testing import instances
from fedatlas.testing.candidate import CLIENTS, Candidate, Run, everywhere, require_finite, same, where_defined
from fedatlas.testing.findings import Failed, NotApplicable

NEVER = 1e-9  # a probability to take part that never happens in a few rounds
LATE: dict[str, Any] = {
    "kind": "phases",
    "p": [1, 1, 1, 1, NEVER],
    "then": [[1.0]],
    "length": 3,
}  # client 4 comes in round 3
ABSENT: dict[str, Any] = {"kind": "stationary", "p": [1, 1, 1, 1, NEVER]}
UNSEEN: dict[str, dict[str, Any]] = {
    "a client that comes in round 3": {"participation": LATE},
    "a client that never comes": {"participation": ABSENT},
}
NOBODY = {"kind": "stationary", "p": NEVER}
SOME: dict[str, dict[str, Any]] = {
    "3 of 5 clients in a round": {"participation": {"kind": "uniform", "count": 3}},
    "one client in a round": {"participation": {"kind": "uniform", "count": 1}},
}
MEAN = (
    "`mean` is over the active clients alone, so send changes, such as y - s.x, and add their mean to s.x; n.active "
    "and n.clients are for states that belong to all clients."
)


def _somewhere(conditions: dict[str, dict[str, Any]] | None = None) -> Iterator[Run]:
    """The small problems in which clients have data of their own, under some conditions."""
    return (run for run in everywhere(conditions) if not run[1].shared)


def _applies(candidate: Candidate) -> None:
    if candidate.cls.full_participation:
        raise NotApplicable("The algorithm is defined for full participation only.")


def partial_participation(candidate: Candidate) -> None:
    """It runs with a part of the clients, and stays where the gradients of all clients are 0.

    The clients of that problem have one common minimiser, at which the run starts. An algorithm that leaves it with all
    clients too, for example because it adds noise, is not asked to stay. Rounds in which all clients happen to take
    part are those of full participation.
    """
    _applies(candidate)
    for words, problem, options in where_defined(candidate, _somewhere(SOME)):
        require_finite(candidate.run(problem, **options), words, "do not divide by what only absent clients fill.")
    _stays(candidate, SOME)
    for words, problem, _ in where_defined(candidate, _somewhere()):
        chance = candidate.run(problem, participation={"kind": "stationary", "p": 1.0})
        if not same(candidate.plain(words).x, chance.x):
            raise Failed(f"On {words}, the output depends on the rule by which all clients take part.")


def _stays(candidate: Candidate, rules: dict[str, dict[str, Any]]) -> None:
    """Raise Failed if runs leave a common minimiser of all clients that full participation does not leave."""
    problem = instances.agreeing()
    optimum = problem.start(0)

    def away(**options: Any) -> float:
        x = to_numpy(candidate.run(problem, batch=None, rounds=6, **options).x)
        return float(np.linalg.norm(x - optimum) / np.linalg.norm(optimum))

    if away() > 1e-9:
        return
    for words, options in rules.items():
        if not (far := away(**options)) <= 1e-9:
            raise Failed(f"With {words}, the output leaves the common minimiser of all clients by {far:.1%}: {MEAN}")


def unseen_clients(candidate: Candidate) -> None:
    """A client may become active late or never: its first state serves in any round, its data do not count before."""
    _applies(candidate)
    first = "a client's first round may be any round: do not ask for steps.round == 0, and do not divide by 0 rounds."
    for words, problem, options in where_defined(candidate, _somewhere(UNSEEN)):
        require_finite(candidate.run(problem, rounds=6, **options), words, first)
    problem, other = (instances.logistic() for _ in range(2))
    assert other.partition is not None
    other.b[other.partition.client(CLIENTS - 1)] *= -1
    asked = {name: one.constant for name, one in candidate.cls.options().items() if one.constant}
    known = {name: value for name, constant in asked.items() if (value := problem.constant(constant)) is not None}
    values = {**known, **candidate.values}  # the same for both
    if candidate.defined(problem, participation=ABSENT):
        ends = [candidate.run(one, values=values, participation=ABSENT).x for one in (problem, other)]
        if not same(*ends):
            raise Failed("The output depends on the data of a client that never takes part: use what clients send.")


def empty_rounds(candidate: Candidate) -> None:
    """A round without any active client costs nothing and, where no client was active before, moves nothing."""
    _applies(candidate)
    for words, problem, options in where_defined(candidate, _somewhere({"no clients": {"participation": NOBODY}})):
        history = candidate.run(problem, **options)
        if not same(history.x, problem.start(1)):
            stay = "return s from empty_round, or leave that hook out"
            raise Failed(f"On {words}, the output moves though no client was active: {stay}.")
        if any(history.rows[-1][name] for name in ("vectors_up", "vectors_down", "gradients", "samples")):
            raise Failed(f"On {words}, rounds without clients cost something.")
    advice = "return all vectors of s from empty_round, and none that a mean over no client would give."
    often = {"participation": {"kind": "stationary", "p": 0.2}, "rounds": 12}
    for words, problem, options in where_defined(candidate, _somewhere({"some rounds without clients": often})):
        require_finite(candidate.run(problem, **options), words, advice)
