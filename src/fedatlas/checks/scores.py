"""Checks that compare scores, with each other or with a number."""

import math

from fedatlas import labels
from fedatlas.checks.base import NotTested, Outcome, kind

ROUNDING = 1e-14  # differences of scores that double precision does not resolve


@kind("better")
def better(results, algorithm, than, where=None, factor=1, by=0, metric=None, statistic=None):
    """Whether ``algorithm`` is better than each of ``than`` by at least ``factor``, and at least the amount ``by``, in
    every setting of ``where``."""
    ours = results.values(algorithm, where, metric, statistic)
    low = results.goal(metric) == "min"
    found = []
    for other in than:
        theirs = results.values(other, where, metric, statistic)
        for point in ours.keys() & theirs.keys():
            ahead = (theirs[point] - ours[point]) * (1 if low else -1)
            found.append((_ratio(ours[point], theirs[point], low), ahead, other, point, theirs[point]))
    if not found:
        raise NotTested("No setting has results of both")
    found.sort(key=lambda entry: (entry[1 if by else 0], than.index(entry[2]), str(entry[3])))
    held = all(ratio >= factor and (ratio > 1 or factor < 1) and (not by or ahead >= by) for ratio, ahead, *_ in found)
    if len(ours) == 1:
        rest = ", ".join(f"{results.name(other)} {labels.number(value)}" for _, _, other, _, value in found)
        return Outcome(f"{results.name(algorithm)} {labels.number(next(iter(ours.values())))}; {rest}", held)
    ratio, ahead, other, point, _ = found[0]
    worst = f"at worst ahead by {labels.number(ahead)}" if by else f"at worst {ratio:.3g} times as good"
    return Outcome(worst, held, f"Against {results.name(other)} at {results.point(point)}.")


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
def reaches(results, algorithms, metric=None, statistic=None, at_least=None, at_most=None, where=None, share=None):
    """Whether the best or final value of a metric lies in bounds, for all ``algorithms`` and settings of ``where``.

    share: in more than this share of the settings instead of all.
    """
    texts, held = [], True
    for algorithm in algorithms:
        values = list(results.values(algorithm, where, metric, statistic).values())
        inside = [
            math.isfinite(v) and (at_least is None or v >= at_least) and (at_most is None or v <= at_most)
            for v in values
        ]
        part = sum(inside) / len(inside)
        held &= part == 1 if share is None else part > share
        texts.append(_ends(results.name(algorithm), values))
        if share is not None:
            texts[-1] += f", {sum(inside)} of {len(inside)} in the bounds"
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


@kind("drop", one_of=("at_least", "at_most", "above"))
def drop(
    results,
    algorithms,
    axis,
    start="min",
    end="max",
    at_least=None,
    at_most=None,
    above=None,
    than=(),
    where=None,
    metric=None,
    statistic=None,
):
    """How much worse a metric is where ``axis`` has the value ``end`` than where it has ``start``, else alike.

    start, end: also ``best`` and ``worst``, of all values of the axis. above: a bound that must be exceeded. than:
    algorithms which must all lose more.
    """
    texts, held, largest = [], True, -math.inf
    low, high = (-math.inf if at_least is None else at_least), (math.inf if at_most is None else at_most)
    for algorithm in algorithms:
        drops = _drops(results, algorithm, axis, start, end, where, metric, statistic)
        held &= all(math.isfinite(drop) and low <= drop <= high and (above is None or drop > above) for drop in drops)
        largest = max(largest, *drops)
        texts.append(_ends(results.name(algorithm), drops))
    for algorithm in than:
        drops = _drops(results, algorithm, axis, start, end, where, metric, statistic)
        held &= min(drops) > largest
        texts.append(_ends(results.name(algorithm), drops))
    return Outcome(", ".join(texts), held)


def _ends(name, values):
    return f"{name} {' to '.join(dict.fromkeys(map(labels.number, (min(values), max(values)))))}"


def _drops(results, algorithm, axis, start, end, where, metric, statistic):
    """By how much scores at ``end`` are worse than at ``start``, for every setting of the other axes that has both."""
    sign = 1 if results.goal(metric) == "max" else -1
    before, after = (_at(results, algorithm, axis, value, where, metric, statistic) for value in (start, end))
    drops = [sign * (before[point] - after[point]) for point in before if point in after]
    if not drops:
        raise NotTested(f"No setting of {results.name(algorithm)} has both values of {axis}")
    return drops


def _at(results, algorithm, axis, value, where, metric, statistic):
    """Scores by setting of the other axes, where ``axis`` has a value or at its best or worst value."""
    over = {"best": max, "worst": min} if results.goal(metric) == "max" else {"best": min, "worst": max}
    chosen = where if value in ("best", "worst") else {**(where or {}), axis: value}
    scores = {}
    for point, score in results.values(algorithm, chosen, metric, statistic).items():
        others = tuple(v for name, v in zip(results.axes, point, strict=True) if name != axis)
        scores.setdefault(others, []).append(score)
    if chosen is where:
        return {point: over[value](found) for point, found in scores.items() if len(found) > 1}
    return {point: found[0] for point, found in scores.items()}
