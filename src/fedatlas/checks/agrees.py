"""Checks of simulations against closed forms."""

import math

from fedatlas import labels
from fedatlas.checks.base import NotTested, Outcome, kind
from fedatlas.registry import lookup
from fedatlas.theory.closed_forms import LIMITS, late, probabilities

ROUNDING = 1e-9


@kind("agrees")
def agrees(results, algorithm, limit, metric, after=0, where=None, level=0.01):
    """Whether a metric's mean from round ``after`` on is the closed form ``limit``, within Monte-Carlo error.

    The seeds' time means are independent, so their distance from the limit in standard errors is Student's t; held if
    no setting of ``where`` deviates significantly at ``level``, with Bonferroni's correction for their number.
    """
    from scipy import stats

    closed = lookup("limit", limit, LIMITS)
    rows = results.rows(algorithm, where, results.curves)
    means = late(rows, results.axes, metric, after)
    deviations, samples = [], 0
    for point, part in means.groupby(level=results.axes, sort=False):
        values = part.to_numpy(float)
        samples = len(values)
        if samples < 2:
            raise NotTested("A standard error needs two seeds at least")
        where_it_is = dict(zip(results.axes, point if isinstance(point, tuple) else (point,), strict=True))
        apart = values.mean() - closed(results.problem, probabilities(results.setting, where_it_is))
        error = values.std(ddof=1) / math.sqrt(samples)
        deviations.append(0.0 if abs(apart) <= ROUNDING else apart / error if error else math.inf)
    if not deviations:
        raise NotTested(f"No evaluations from round {after} on")
    allowed = float(stats.t.ppf(1 - level / 2 / len(deviations), samples - 1))
    worst = max(map(abs, deviations))
    square = sum(z * z for z in deviations) / len(deviations)
    ours = f"largest deviation {labels.number(worst)} standard errors over {len(deviations)} settings"
    expected = (samples - 1) / (samples - 3) if samples > 3 else math.inf
    squares = f"mean square {labels.number(square)}, expected {labels.number(expected)}"
    note = f"{labels.number(allowed)} are allowed; {squares}."
    return Outcome(ours, worst <= allowed, note)
