"""Instability of accelerated runs from almost equal starts: Theorem 4.2, Lemma 4.3 of Yuan & Ma 2020 (2006.08950).

On the function of Lemma F.2 the starts must be so close that float64 cannot tell the runs apart, so they are computed
in Decimals, with as many digits as the closeness and the number of steps ask for.
"""

import typing
from collections.abc import Sequence
from decimal import Decimal, localcontext

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.algorithms.recurrences import accelerated, descent
from fedatlas.federation.problems.piecewise import Piecewise

if typing.TYPE_CHECKING:
    import pandas as pd

Vector = tuple[Decimal, ...]
Rule = tuple[tuple[Vector, ...], Vector, Vector]  # A, b and c of a step z <- A z - b F'(<c, z>)

GROWTH = Decimal("1.02")  # of the theorem, for each three steps and kappa >= 25
SMALLEST = Decimal("1e-290")  # eps whose distances are still floats


def rule(name: str, kappa: float, interval: int) -> Rule:
    """A, b and c of an algorithm's step z <- A z - b F'(<c, z>) with L = 1 and step size 1.

    interval: local steps K between two averages, which set the coupling of the FedAc family. The coefficients are
    those of the algorithm in float64, but weights of averages sum to one exactly. Raises UserError if the step has no
    such form.
    """
    values = {"lr": 1.0, "L": 1.0, "mu": 1 / kappa}
    cls = ALGORITHMS.get(name)
    algorithm: typing.Any = ALGORITHMS.create(
        name, {key: value for key, value in values.items() if key in cls.options()}
    )
    if name == "gd":
        step = descent(algorithm.lr)
    elif name == "agd":
        alpha, beta, gamma = algorithm.coupling
        step = accelerated(alpha, beta, gamma, 1.0)
    else:
        step = algorithm.recurrence(interval)
    if step is None:
        raise UserError(f"{name} is not a linear recurrence in its gradients")
    return tuple(map(_average, step.A)), tuple(map(Decimal, step.b)), _average(step.c)


def _average(weights: Sequence[float]) -> Vector:
    # A sum of 1 + 1e-16 is a drift, which the instability would amplify.
    rest = [Decimal(weight) for weight in weights[1:]]
    with localcontext(prec=100):
        return (1 - sum(rest, start=Decimal(0)), *rest)


def separation(problem: Piecewise, rule: Rule, steps: int, eps: Decimal) -> list[tuple[Decimal, Decimal]]:
    """Return distances of two runs after 0, 1, .., steps steps, from all vectors at x0 and all at x0 - eps.

    Returns one pair a step: the largest distance of a vector, and that of the last one, which is evaluated.
    """
    with localcontext(prec=problem.digits + max(0, -eps.adjusted())):
        x0 = Decimal(problem.x0)
        runs: list[Vector] = [(start,) * len(rule[2]) for start in (x0, x0 - eps)]
        pairs = []
        for t in range(steps + 1):
            apart = [abs(w - u) for w, u in zip(*runs, strict=True)]
            pairs.append((max(apart), apart[-1]))
            if t < steps:
                runs = [_step(problem, rule, z)[0] for z in runs]
    return pairs


def reach(problem: Piecewise, rule: Rule, steps: int) -> Decimal:
    """Return the largest eps for which the points of both runs lie on one piece at every step (Theorem F.1's eps_0)."""
    with localcontext(prec=problem.digits):
        size, largest = len(rule[2]), Decimal("Infinity")
        z, apart = (Decimal(problem.x0),) * size, (Decimal(1),) * size
        for _ in range(steps):
            z, md, curvature = _step(problem, rule, z)
            between = _dot(rule[2], apart)
            if between:
                largest = min(largest, problem.margin(md) / abs(between))
            apart = _move(rule, apart, curvature * between)
    return largest


def distances(
    kappa: float, steps: int, algorithm: str = "agd", interval: int | None = None, along: str = "agd"
) -> "pd.DataFrame":
    """Distances of two runs on the function of Lemma F.2, whose starts are eps apart.

    eps is the power of ten below the largest that the theorem allows.

    Args:
        kappa: The condition number.
        steps: The theorem's 3K.
        algorithm: Algorithm of the runs.
        interval: K of the FedAc family; by default steps, so that the whole run lies between two averages (Lemma 4.3).
        along: Algorithm on whose trajectory F'' is L at every third step.

    Returns:
        A row for each step 0 .. steps: ``step``, ``distance`` (the larger of |w - u| and |w_ag - u_ag|), ``output``
        (that of the evaluated vector) and ``bound`` (eps 1.02^(step/3), eq. F.9).

    Raises:
        UserError: eps is too small for these columns.
    """
    import pandas as pd

    target = rule(along, kappa, interval or steps)
    problem = Piecewise.along(target, kappa, steps)
    eps = Decimal(10) ** reach(problem, target, steps).adjusted()
    if eps < SMALLEST:
        raise UserError(f"instability: eps is {eps:.2g}, which is too small for a table: take fewer steps")
    pairs = separation(problem, rule(algorithm, kappa, interval or steps), steps, eps)
    rows = [
        (step, float(distance), float(output), float(eps * GROWTH ** (Decimal(step) / 3)))
        for step, (distance, output) in enumerate(pairs)
    ]
    return pd.DataFrame(rows, columns=["step", "distance", "output", "bound"])


def _step(problem: Piecewise, rule: Rule, z: Vector) -> tuple[Vector, Decimal, Decimal]:
    """Return the next z, md and F''(md)."""
    md = _dot(rule[2], z)
    _, slope, curvature = problem.exact(md)
    return _move(rule, z, slope), md, curvature


def _move(rule: Rule, z: Vector, slope: Decimal) -> Vector:
    return tuple(_dot(row, z) - weight * slope for row, weight in zip(rule[0], rule[1], strict=True))


def _dot(a: Vector, z: Vector) -> Decimal:
    return sum((x * y for x, y in zip(a, z, strict=True)), start=Decimal(0))
