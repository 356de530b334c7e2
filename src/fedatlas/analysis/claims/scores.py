"""Checks that compare scores, with each other or with a number."""

import math

from fedatlas.analysis import labels
from fedatlas.analysis.claims.base import NotTested, Outcome, kind

ROUNDING = 1e-14  # differences of scores that double precision does not resolve


@kind("better")
def better(results, algorithm, than, where=None, factor=1, metric=None, statistic=None):
    """Whether ``algorithm`` is better than each of ``than`` by at least ``factor``, in every setting of ``where``."""
    ours = results.values(algorithm, where, metric, statistic)
    low = results.goal(metric) == "min"
    found = []
    for other in than:
        theirs = results.values(other, where, metric, statistic)
        for point in ours.keys() & theirs.keys():
            found.append((_ratio(ours[point], theirs[point], low), other, point, theirs[point]))
    if not found:
        raise NotTested("No setting has results of both")
    found.sort(key=lambda entry: (entry[0], than.index(entry[1]), str(entry[2])))
    held = all(ratio >= factor and (ratio > 1 or factor < 1) for ratio, *_ in found)
    if len(ours) == 1:
        rest = ", ".join(f"{results.name(other)} {labels.number(value)}" for _, other, _, value in found)
        return Outcome(f"{results.name(algorithm)} {labels.number(next(iter(ours.values())))}; {rest}", held)
    ratio, other, point, _ = found[0]
    return Outcome(
        f"at worst {ratio:.3g} times as good", held, f"Against {results.name(other)} at {results.point(point)}."
    )


def _ratio(ours, theirs, low):
    """How many times better ours is; 0 if ours diverged."""
    good, bad = (ours, theirs) if low else (theirs, ours)
    if not math.isfinite(ours):
        return 0.0
    if not math.isfinite(theirs):
        return math.inf
    if good <= 0:  # rounding error about the optimum, or an accuracy of 0
        return math.inf if bad > good else 1.0 if bad == good else 0.0
    return max(bad, 0.0) / good


@kind("reaches", one_of=("at_least", "at_most"))
def reaches(results, algorithms, metric=None, statistic=None, at_least=None, at_most=None, where=None):
    """Whether the best or final value of a metric lies in bounds, for all ``algorithms`` and settings of ``where``."""
    texts, held = [], True
    for algorithm in algorithms:
        values = list(results.values(algorithm, where, metric, statistic).values())
        inside = [
            math.isfinite(v) and (at_least is None or v >= at_least) and (at_most is None or v <= at_most)
            for v in values
        ]
        held &= all(inside)
        ends = dict.fromkeys((labels.number(min(values)), labels.number(max(values))))
        texts.append(f"{results.name(algorithm)} {' to '.join(ends)}")
    return Outcome(", ".join(texts), held)


@kind("equal")
def equal(results, algorithms, tolerance, where=None, metric=None, statistic=None):
    """Whether scores agree to a relative ``tolerance`` in every setting of ``where`` that all ``algorithms`` have."""
    values = [results.values(algorithm, where, metric, statistic) for algorithm in algorithms]
    common = set.intersection(*map(set, values))
    pairs = [[value[point] for value in values] for point in common]
    pairs = [pair for pair in pairs if any(map(math.isfinite, pair))]
    if not pairs:
        raise NotTested("No setting has results of all")
    worst = max(_difference(pair) for pair in pairs)
    return Outcome(f"largest relative difference {labels.number(worst, 2)}", worst <= tolerance)


def _difference(values):
    if not all(map(math.isfinite, values)):
        return math.inf
    apart = max(values) - min(values)
    return 0.0 if apart <= ROUNDING else apart / max(map(abs, values))


@kind("drop", one_of=("at_least", "at_most"))
def drop(
    results,
    algorithms,
    axis,
    start="min",
    end="max",
    at_least=None,
    at_most=None,
    where=None,
    metric=None,
    statistic=None,
):
    """How much worse a metric is where ``axis`` has the value ``end`` than where it has ``start``, else alike."""
    texts, held = [], True
    sign = 1 if results.goal(metric) == "max" else -1
    others = [place for place, name in enumerate(results.axes) if name != axis]
    for algorithm in algorithms:
        before, after = (
            results.values(algorithm, {**(where or {}), axis: value}, metric, statistic) for value in (start, end)
        )
        after = {tuple(point[place] for place in others): value for point, value in after.items()}
        ends = [(value, after.get(tuple(point[place] for place in others))) for point, value in before.items()]
        drops = [sign * (first - last) for first, last in ends if last is not None]
        if not drops:
            raise NotTested(f"No setting of {results.name(algorithm)} has both values of {axis}")
        low, high = (-math.inf if at_least is None else at_least), (math.inf if at_most is None else at_most)
        held &= all(math.isfinite(drop) and low <= drop <= high for drop in drops)
        texts.append(
            f"{results.name(algorithm)} {' to '.join(dict.fromkeys(map(labels.number, (min(drops), max(drops)))))}"
        )
    return Outcome(", ".join(texts), held)
