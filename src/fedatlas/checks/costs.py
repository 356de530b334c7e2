"""Checks of what it costs to reach an accuracy."""

import math

from fedatlas import labels
from fedatlas.checks.base import NotTested, Outcome, kind
from fedatlas.errors import UserError
from fedatlas.registry import did_you_mean


@kind("fewer", one_of=("at_least", "at_most"))
def fewer(
    results, algorithm, than, reduction=None, cost="rounds", metric=None, where=None, at_least=None, at_most=None
):
    """How many times less ``algorithm`` costs than each of ``than`` until a metric is ``reduction`` times its first
    value, at the first evaluation where its mean over seeds is; in every setting of ``where``. Without a reduction: the
    costs of all rounds."""
    metric = metric or results.select["metric"]
    results.column(metric)
    if cost not in labels.COSTS:
        raise UserError(f"cost: {cost!r} is none{did_you_mean(cost, labels.COSTS)}")
    ours, held, texts = _costs(results, algorithm, where, metric, reduction, cost), True, []
    for other in than:
        theirs = _costs(results, other, where, metric, reduction, cost)
        for point in [p for p in ours if p in theirs]:
            ratio = _ratio(ours[point], theirs[point])
            held &= ratio is not None and (at_least is None or ratio >= at_least)
            held &= ratio is not None and (at_most is None or ratio <= at_most)
            place = results.point(point)
            texts.append(f"{_text(ours[point], theirs[point], ratio)}{' at ' + place if place else ''}")
    if not texts:
        raise NotTested("No setting has results of both")
    return Outcome("; ".join(texts), held)


def _text(ours, theirs, ratio):
    if ratio is None or not math.isfinite(ratio):
        return "not attained" if ratio is None else "attained by it alone"
    return f"{labels.number(ratio)} times ({labels.number(ours)} against {labels.number(theirs)})"


def _ratio(ours, theirs):
    """theirs / ours; infinite if only ours attains the accuracy, None if ours does not."""
    if not math.isfinite(ours):
        return None
    return theirs / ours if ours > 0 else math.inf


def _costs(results, algorithm, where, metric, reduction, cost):
    """{point of the axes: cost of attaining the accuracy, infinite where it is not attained or seeds diverge}."""
    column, found = "round" if cost == "rounds" else cost, {}
    rows = results.rows(algorithm, where, results.curves)
    for point, curve in rows.groupby(results.axes, sort=False) if results.axes else [((), rows)]:
        groups = curve.groupby("round")
        complete = groups[metric].count() == curve["seed"].nunique()  # a seed that diverged has no value
        mean = groups[metric].mean()
        costs = groups[column].mean() if column != "round" else mean.index.to_series()
        last = mean.index == mean.index[-1]
        there = mean[complete & (last if reduction is None else mean <= reduction * mean.iloc[0])]
        found[point] = float(costs[there.index[0]]) if len(there) else math.inf
    return found
