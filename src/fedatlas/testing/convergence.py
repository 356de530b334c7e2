"""Conformance tests of an algorithm's declarations ``corrects_drift`` and ``rate``."""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.testing import instances
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import Failed, NotApplicable

TOLERANCE = 1e-10  # of the suboptimality
ROUNDS = 400  # of each trial
MAX_ROUNDS = 2000  # of the last trial
INTERVAL = 20  # rounds between evaluations of a trial, which ends at the optimum
FACTORS = (1.0, 3.0, 10.0, 0.3, 0.1)  # multiply required hyper-parameters, in the order of trial
TRIALS = 40
DIVERGED = 1e9  # times the first suboptimality, from where no run comes back
NEAR = 0.1  # share of the first suboptimality below which a run may have come to its end
STILL = 0.01  # relative change of the suboptimality in half of a run that is taken for its end
DRIFT: dict[str, Any] = {"batch": None, "local_steps": 4}  # several full local steps, in which clients drift apart


@functools.cache
def heterogeneous() -> Any:
    """Return quadratics of five clients that differ, with mu = 1 and L = 20 of their mean."""
    return instances.quadratic(clients=5, dim=6, noise=0, mu=1.0, L=20.0, similarity=0.9, heterogeneity=3.0)


@functools.cache
def _objectives() -> dict[str, Any]:
    return {
        "quadratics": instances.quadratic(noise=0.0),
        "logistic regression": instances.unequal_clients(),
        "logistic regression of clients that count by their size": instances.unequal_clients("size"),
    }


def optimum(implementation: Implementation) -> None:
    """An algorithm that declares `corrects_drift` reaches the optimum of clients that differ by several local steps."""
    if not implementation.cls.corrects_drift:
        raise NotApplicable(f"The algorithm does not declare `corrects_drift`.{_observation(implementation)}")
    solution: list[tuple[int, dict[str, Any]]] = []  # what led to the optimum of the objective before comes first
    for label, problem in _objectives().items():
        if not implementation.is_defined(problem):
            continue
        least = math.inf
        trials = [*((ROUNDS, values) for values in _multiples(implementation)), (MAX_ROUNDS, implementation.values)]
        for rounds, values in solution + trials:
            least = min(least, _suboptimalities(implementation, problem, values, rounds)[-1])
            if least < TOLERANCE:
                solution = [(rounds, values)]
                break
        else:
            raise Failed(
                f"On {label}, the output stays {least:.2g} above the optimum: correct the hooks, write "
                f"`corrects_drift = False` or give values with --set with which {MAX_ROUNDS} rounds lead there."
            )


def _observation(implementation: Implementation) -> str:
    """Return sentences on how near an algorithm that does not declare ``corrects_drift`` comes to the optimum.

    There are none for algorithms whose clients see nothing but the model, which cannot correct their drift. As a method
    may leave it uncorrected, a distance is not a failure.
    """
    problem, cls = _objectives()["quadratics"], implementation.cls
    if not implementation.is_defined(problem, **DRIFT):
        return ""
    sends_more = cls.broadcast != Algorithm.broadcast or cls.overrides("before") or cls.overrides("mixing")
    if not (sends_more or implementation.simulate(problem, **DRIFT, rounds=1).stateful):
        return ""
    distance = ""
    for values in _multiples(implementation):
        try:
            curve = _suboptimalities(implementation, problem, values, ROUNDS)
        except Exception:  # values that are too large for it: what has no declaration cannot fail
            continue
        if curve[-1] < TOLERANCE:
            declared = "write `corrects_drift = True`, and this is tested"
            return f" It reaches the optimum of clients that differ, though: {declared}."
        distance = distance or _describe_end(values, curve)
        if curve[-1] < NEAR * curve[0] and abs(curve[-1] / curve[len(curve) // 2] - 1) < STILL:
            break
    return distance and (
        f" {distance} If it should correct client drift, look for a wrong sign and write `corrects_drift = True`: such "
        "a method ends at the optimum. Others need not."
    )


def _describe_end(values: Mapping[str, Any], curve: Sequence[float]) -> str:
    """Return a sentence about the end of a run, and of FedAvg's with the same step size, from its suboptimalities."""
    names = ", ".join(f"{name} = {_format_value(value)}" for name, value in values.items())
    end = f"end {curve[-1]:.2g} above" if curve[-1] < curve[0] else "lead away from"
    fedavg = f", where FedAvg ends {_drift_of_fedavg(values['lr']):.2g} above it" if "lr" in values else ""
    rounds = f"{ROUNDS} rounds of full gradients{' with ' if names else ''}{names}"
    return f"{rounds} {end} the optimum of clients that differ{fedavg}."


@functools.cache
def _drift_of_fedavg(lr: float) -> float:
    """Return the suboptimality at which FedAvg ends with a step size."""
    fedavg = Implementation(ALGORITHMS.get("fedavg"), {"lr": lr})
    return _suboptimalities(fedavg, _objectives()["quadratics"], fedavg.values, ROUNDS)[-1]


def _suboptimalities(
    implementation: Implementation, problem: Any, values: Mapping[str, Any], rounds: int
) -> list[float]:
    """Return the finite suboptimalities of a run, which ends at the optimum or where it has diverged.

    Args:
        implementation: Algorithm under test.
        problem: Problem whose optimum is known.
        values: Hyper-parameters.
        rounds: Number of rounds, unless the run reaches the optimum earlier.

    Returns:
        That of the start, and then one every INTERVAL rounds.
    """
    simulation = implementation.simulate(problem, values=values, **DRIFT, rounds=rounds)
    result: list[float] = []
    with np.errstate(all="ignore"):
        for stop in range(0, rounds + 1, INTERVAL):
            while simulation.round < stop and simulation.diverged_round is None:
                simulation.run_round()
            value = problem.evaluate(simulation.output)["suboptimality"]
            if not math.isfinite(value):
                break
            result.append(value)
            if value < TOLERANCE or value > DIVERGED * result[0]:
                break
    return result


def _multiples(implementation: Implementation) -> Iterator[dict[str, Any]]:
    """Yield the values, and then multiples of the required numbers that the user does not set."""
    options = {
        name: option
        for name, option in implementation.cls.options().items()
        if option.required and name not in implementation.hyperparameters and float in option.members
    }
    combinations = sorted(itertools.product(range(len(FACTORS)), repeat=len(options)), key=sum)
    for ranks in combinations[:TRIALS]:
        values = {name: implementation.values[name] * FACTORS[rank] for name, rank in zip(options, ranks, strict=True)}
        if all(options[name].fits(value) for name, value in values.items()):
            yield {**implementation.values, **values}


def rate(implementation: Implementation) -> None:
    """Runs on quadratics are at least as fast as the declared ``rate`` says."""
    if not implementation.cls.overrides("rate"):
        raise NotApplicable("The algorithm declares no rate.")
    problem = heterogeneous()
    values = {**implementation.step_counts, **implementation.values}
    options: dict[str, Any] = {"values": values, "local_steps": 100, "batch": None, "eval_rounds": 1}
    algorithm = implementation.simulate(problem, **options).algorithm
    contraction = algorithm.rate(problem.constants() | {"dim": problem.dim, "clients": problem.clients})
    parameters = ", ".join(f"{name} = {_format_value(value)}" for name, value in values.items()) or "its defaults"
    if contraction is None:
        raise NotApplicable(f"rate is None with {parameters}: give the hyper-parameters of the theorem with --set.")
    if not 0 < contraction < 1:
        raise Failed(f"rate is {contraction:g} with {parameters}; a contraction lies between 0 and 1.")
    # As many rounds as the rate needs to double precision, so that the slope is not one of rounding errors.
    rounds = min(60, math.ceil(math.log(1e-16) / math.log(contraction)))
    rows = implementation.run(problem, rounds=rounds, **options).rows
    log = np.log([row["distance"] ** 2 for row in rows if row["distance"] > 1e-11])
    if len(log) <= 4:
        raise Failed(f"With {parameters}, the optimum is reached in {len(log)} rounds, which is no rate.")
    slope = float(np.polyfit(np.arange(len(log)), log, 1)[0])
    if slope > math.log(contraction):
        observation = f"a round multiplies the squared distance to the optimum by {math.exp(slope):.4g}"
        advice = "correct the hooks or the formula, or return None where no theorem holds"
        raise Failed(f"With {parameters}, {observation}, and rate promises {contraction:.4g}: {advice}.")


def _format_value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
