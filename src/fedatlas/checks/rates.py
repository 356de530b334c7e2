"""Checks of rounds to a target and of rates along an axis."""

import math

from fedatlas import labels
from fedatlas.checks.base import NotTested, Outcome, kind
from fedatlas.errors import UserError
from fedatlas.experiments.selection import attained, numeric
from fedatlas.registry import did_you_mean


@kind("rounds_to")
def rounds_to(results, algorithm, target, where=None, paper=None, exactly=False):
    """Fewest rounds of any setting in ``where`` whose score attains ``target``; held if at most ``paper``, or equal."""
    rows = results.rows(algorithm, where)
    low = results.goal() == "min"
    there = rows[(rows["score"] <= target) if low else (rows["score"] >= target)]
    if there.empty:
        best = rows["score"].min() if low else rows["score"].max()
        return Outcome(f"not attained; best {labels.number(best)}", False)
    fewest = there.loc[there["rounds"].idxmin()]
    rounds = float(fewest["rounds"])
    note = f"At {labels.setting(fewest, results.axes)}." if results.axes else ""
    held = paper is None or (rounds == paper if exactly else rounds <= paper)
    return Outcome(labels.number(rounds), held, note)


@kind("first_round")
def first_round(results, algorithm, target, metric=None, where=None, paper=None):
    """First evaluated round at which the mean of a metric over seeds attains ``target``, in every setting of ``where``.

    Held if at most ``paper``.
    """
    metric = metric or results.select["metric"]
    results.column(metric)
    rows = results.rows(algorithm, where, results.curves)
    points = rows.groupby(results.axes, sort=False) if results.axes else [((), rows)]
    firsts = [attained(curve, metric, target, results.select) for _, curve in points]
    last = max(firsts)
    ours = labels.number(last) if math.isfinite(last) else "not attained"
    return Outcome(ours, math.isfinite(last) and (paper is None or last <= paper))


@kind("speedup", one_of=("at_least", "at_most"))
def speedup(results, algorithms, axis, where=None, at_least=None, at_most=None):
    """Minus the slope of log score against log ``axis``: 1 is linear speed-up, 0 is none."""
    import numpy as np

    if axis not in results.axes:
        raise UserError(f"axis: {axis!r} is not an axis{did_you_mean(axis, results.axes)}")
    others = [a for a in results.axes if a != axis]
    texts, held, notes = [], True, []
    for algorithm in algorithms:
        rows = results.rows(algorithm, where)
        if not numeric(rows[axis]):
            raise UserError(f"axis: the values of {axis} are not numbers")
        for _, part in rows.groupby(others, sort=False) if others else [((), rows)]:
            if not np.isfinite(part["score"]).all():
                held &= at_least is None
                notes.append(f"{results.name(algorithm)} diverged.")
                continue
            part = part[part["score"] > 0]
            if part[axis].nunique() < 2:
                raise NotTested(f"Fewer than two positive scores of {results.name(algorithm)} along {axis}")
            slope = -np.polyfit(np.log(part[axis]), np.log(part["score"]), 1)[0]
            held &= (at_least is None or slope >= at_least) and (at_most is None or slope <= at_most)
            texts.append(f"{results.name(algorithm)} {slope:.2f}")
    return Outcome(", ".join(texts) or "diverged", bool(held), " ".join(dict.fromkeys(notes)))
