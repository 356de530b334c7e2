"""Checks of what an algorithm declares of its limit: ``exact`` and ``rate``."""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.testing import instances
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import Failed, NotApplicable

REACHED = 1e-10  # suboptimality
MANY = 2000  # rounds of the last try
FACTORS = (1.0, 3.0, 10.0, 0.3, 0.1)  # by which hyper-parameters that must be given are multiplied
COMBINATIONS = 3000  # of hyper-parameters that are tried for a rate


@functools.cache
def heterogeneous() -> Any:
    """PlainQuadraticRun of five clients that differ, with mu = 1 and L = 20 of their mean."""
    return instances.quadratic(clients=5, dim=6, noise=0, mu=1.0, L=20.0, similarity=0.9, heterogeneity=3.0)


@functools.cache
def _objectives() -> dict[str, Any]:
    return {
        "quadratics": instances.quadratic(noise=0.0),
        "logistic regression": instances.equal_shares(),
    }


def optimum(implementation: Implementation) -> None:
    """An algorithm that declares ``exact`` reaches the optimum of heterogeneous clients by several full local steps."""
    if not implementation.cls.exact:
        raise NotApplicable("The algorithm does not declare `exact`.")
    for words, problem in _objectives().items():
        if not implementation.is_defined(problem):
            continue
        least = math.inf
        for rounds, values in [*((400, values) for values in _scaled(implementation)), (MANY, implementation.values)]:
            options = {"batch": None, "local_steps": 4, "rounds": rounds, "eval_rounds": 100}
            rows = implementation.run(problem, values=values, **options).rows
            gaps = [row["suboptimality"] for row in rows if np.isfinite(row["suboptimality"])]
            least = min([least, *gaps[-1:]])
            if least < REACHED:
                break
        else:
            raise Failed(
                f"On {words}, the output stays {least:.2g} above the optimum: correct the hooks, write `exact = False` "
                f"or give hyper-parameters with --set with which {MANY} rounds lead there."
            )


def _scaled(implementation: Implementation) -> Iterator[dict[str, Any]]:
    """The values, and then others for the numbers that must be given."""
    known = implementation.cls.options()
    names = [
        name
        for name, one in known.items()
        if one.required and name not in implementation.hyperparameters and float in one.members
    ]
    every = sorted(itertools.product(range(len(FACTORS)), repeat=len(names)), key=sum)
    for ranks in every[:40]:
        values = {name: implementation.values[name] * FACTORS[rank] for name, rank in zip(names, ranks, strict=True)}
        if all(known[name].fits(value) for name, value in values.items()):
            yield {**implementation.values, **values}


def rate(implementation: Implementation) -> None:
    """Runs on quadratics are at least as fast as the declared ``rate`` says."""
    if not implementation.cls.overrides("rate"):
        raise NotApplicable("The algorithm declares no rate.")
    problem = heterogeneous()
    c = problem.constants()
    values, promised = _rated(implementation, c)
    if not 0 < promised < 1:
        raise Failed(f"rate is {promised:g} with {_words(values)}; a contraction lies between 0 and 1.")
    rounds = min(60, math.ceil(math.log(1e-16) / math.log(promised)))
    options = {"rounds": rounds, "local_steps": 100, "batch": None, "eval_rounds": 1}
    rows = implementation.run(problem, values=values, **options).rows
    log = np.log([row["distance"] ** 2 for row in rows if row["distance"] > 1e-11])
    if len(log) <= 4:
        raise Failed(f"With {_words(values)}, the optimum is reached in {len(log)} rounds, which is no rate.")
    slope = float(np.polyfit(np.arange(len(log)), log, 1)[0])
    if slope > math.log(promised):
        seen = f"a round multiplies the squared distance to the optimum by {math.exp(slope):.4g}"
        advice = "correct the hooks or the formula, or return None where no theorem holds"
        raise Failed(f"With {_words(values)}, {seen}, and rate promises {promised:.4g}: {advice}.")


def _words(values: Mapping[str, Any]) -> str:
    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in values.items()}
    return ", ".join(f"{name} = {value}" for name, value in shown.items()) or "its defaults"


def _rated(implementation: Implementation, c: Mapping[str, float]) -> tuple[dict[str, Any], float]:
    """Hyper-parameters for which the algorithm promises a rate, and the rate. Raises NotApplicable if there are none.

    Where a theorem asks for certain values, multiples of the problem's constants are tried.
    """
    known = implementation.cls.options()
    free = {
        name: one
        for name, one in known.items()
        if (one.required or one.constant) and name not in implementation.hyperparameters
    }
    mu, L, delta = c["mu_min"], c["L_max"], c["delta_A"]
    small = [1 / c["L"], 1 / L, 1 / (2 * L), 1 / (L + 2 * delta), 1 / (L + 2 * delta**2 / mu), mu / (2 * delta**2)]
    tried = [*small, 0.2, math.sqrt(mu / L), 2 * delta, 4 * delta, delta, 1.5 * L, mu, c["mu"], c["L"]]
    every: list[list[Any]] = [
        [value for value in tried if one.fits(value)] or [implementation.values.get(name)] for name, one in free.items()
    ]
    best: tuple[dict[str, Any], float] | None = None
    for combination in itertools.islice(itertools.product(*every), COMBINATIONS):
        values = {**implementation.step_counts, **implementation.values, **dict(zip(free, combination, strict=True))}
        try:
            found = implementation.create(values).rate(c)
        except (UserError, ArithmeticError):
            continue
        if found is not None and (best is None or found < best[1]):
            best = values, found
    if best is None:
        raise NotApplicable(
            "rate is None for all hyper-parameters that were tried: give those of the theorem with --set."
        )
    return best
