"""Checks of how much hyper-parameters matter, and of how far recorded values lie apart."""

import math

from fedatlas import labels
from fedatlas.checks.base import NotTested, Outcome, kind
from fedatlas.errors import UserError
from fedatlas.experiments.selection import matching, numeric
from fedatlas.registry import did_you_mean


@kind("spread", one_of=("at_least", "at_most"))
def spread(results, algorithms, among=None, where=None, at_least=None, at_most=None):
    """Ratio of the largest score to the smallest over all values tried for ``algorithms``, in each setting.

    among: {hyper-parameter: values} keeps only these. What diverged makes the ratio infinite.
    """
    import pandas as pd

    rows = pd.concat([results.rows(algorithm, where, results.table) for algorithm in algorithms])
    for parameter in among or {}:
        _tuned(parameter, rows, algorithms[0])
    rows = matching(rows, among)
    ratios = []
    for _, part in rows.groupby(results.axes, sort=False) if results.axes else [((), rows)]:
        if len(part) > 1:
            finite = (part["diverged"] == 0).all() and part["score"].map(math.isfinite).all()
            low, high = part["score"].min(), part["score"].max()
            if finite and low <= 0:
                raise NotTested("A score is not positive, so that ratios mean nothing")
            ratios.append(high / low if finite else math.inf)
    if not ratios:
        raise NotTested("Fewer than two tuned values")
    held = all((at_least is None or ratio >= at_least) and (at_most is None or ratio <= at_most) for ratio in ratios)
    ends = dict.fromkeys(f"{ratio:.4g}" for ratio in (min(ratios), max(ratios)))
    return Outcome(f"largest score {' to '.join(ends)} times the smallest", held)


@kind("choice_slope", one_of=("at_least", "at_most"))
def choice_slope(results, algorithm, parameter, axis, where=None, at_least=None, at_most=None):
    """Slope of the log of the chosen value of a hyper-parameter against the log of ``axis``: 2 is a square law."""
    import numpy as np

    rows = results.rows(algorithm, where)
    if axis not in results.axes:
        raise UserError(f"axis: {axis!r} is not an axis{did_you_mean(axis, results.axes)}")
    _tuned(parameter, rows, algorithm)
    if not numeric(rows[axis]) or not numeric(rows[parameter]):
        raise UserError(f"the values of {axis} and {parameter} must be numbers")
    if rows[axis].nunique() < 2:
        raise NotTested(f"Fewer than two values of {axis}")
    slope = float(np.polyfit(np.log(rows[axis]), np.log(rows[parameter]), 1)[0])
    pairs = zip(rows[axis], rows[parameter], strict=True)
    chosen = ", ".join(f"{labels.number(value)} at {labels.point(axis, at)}" for at, value in pairs)
    held = (at_least is None or slope >= at_least) and (at_most is None or slope <= at_most)
    return Outcome(f"slope {slope:.2f}", held, f"The best {parameter} is {chosen}.")


@kind("proportion", one_of=("at_least", "at_most"))
def proportion(results, algorithms, metric, of, statistic="final", where=None, at_least=None, at_most=None):
    """Ratio of one metric to another, for all ``algorithms`` and settings of ``where``."""
    texts, held = [], True
    for algorithm in algorithms:
        above, below = (results.values(algorithm, where, name, statistic) for name in (metric, of))
        ratios = [above[point] / below[point] if below[point] else math.inf for point in above]
        if not all(map(math.isfinite, ratios)):
            raise NotTested(f"{results.name(algorithm)} has no {metric}")
        held &= all((at_least is None or r >= at_least) and (at_most is None or r <= at_most) for r in ratios)
        ends = dict.fromkeys(f"{ratio:.4g}" for ratio in (min(ratios), max(ratios)))
        texts.append(f"{results.name(algorithm)} {' to '.join(ends)}")
    return Outcome(", ".join(texts), held)


def _tuned(parameter, rows, algorithm):
    if parameter not in rows or rows[parameter].isna().all():
        raise UserError(f"{parameter!r} is not tuned for {algorithm}")
