"""The search for the best tuned value: how values are compared, and when there are more of them.

A value's score is the mean over the tuning seeds. A value with which a run diverged is chosen only if all of them
diverge; then it is the first. While the best value lies at an end of an axis of a grid, the axis is continued there.
While the best trial lies near the border of its space, the space grows there and gets more trials.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedatlas.experiments import scores
from fedatlas.experiments.cells import CellSpec, Point, Search, Select
from fedatlas.experiments.runs import SETTING, product, tuned_points
from fedatlas.experiments.tuning import halton
from fedatlas.experiments.tuning.axes import continued
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.registry.options import Option, options

Rows = Sequence[Mapping[str, Any]]  # evaluations of a run


def advanced(
    spec: CellSpec, search: Search, rows: Callable[[Point, int], Rows], possible: Callable[[Point], bool]
) -> Search:
    """A search after the runs of all its values: with more of them, or with the chosen value.

    Each axis at an end of which the best value lies gets one value there. It is combined with all values of the other
    axes, as they are by then. It is left out if it is not possible with all of them.

    rows: of the run of a tuned value and a tuning seed. possible: whether a tuned value can be run.
    """
    assert spec.select is not None  # a search that is not over has a choice
    points = tuned_points(search)
    found = [_mean([score(rows(point, seed), spec.select) for seed in spec.tuning_seeds]) for point in points]
    sign = 1 if goal(spec.select) == "min" else -1
    best = min(range(len(points)), key=lambda place: sign * found[place])
    if spec.space is not None:
        more = _grown(spec, search, points[best], possible) if math.isfinite(found[best]) else None
        return more or dataclasses.replace(search, chosen=points[best])
    axes = search.axes
    for name in axes if math.isfinite(found[best]) else ():
        new = continued(spec.tune[name], axes[name], points[best][name], option_of(spec, name), spec.select.extend)
        if new is not None and all(map(possible, product({**axes, name: [new]}))):
            axes = {**axes, name: [*axes[name], new]}
    return Search(search.within, axes, points[best] if axes is search.axes else None)


def _grown(spec: CellSpec, search: Search, best: Point, possible: Callable[[Point], bool]) -> Search | None:
    """A search with trials beyond the borders near which the best one lies; None where there are none to add."""
    assert spec.space is not None and search.space is not None and spec.select is not None
    first, space, axes = spec.space, dict(search.space), search.axes
    known = {name: option_of(spec, name) for name in space}
    parts = {}
    for name, ends in search.space.items():
        which = halton.border(ends, best[name])
        if which and halton.moved(first[name], ends, which) < spec.select.extend:
            space[name], parts[name] = halton.grown(first[name], ends, which)
    count = math.ceil(halton.GROWTH * len(next(iter(spec.tune.values()))))
    for name, part in parts.items():
        points = tuned_points(dataclasses.replace(search, axes=axes))
        new = halton.drawn({**space, name: part}, known, count, points)
        rows = [row for row in tuned_points(Search({}, new, None, space)) if possible(row)]
        axes = {one: [*values, *(row[one] for row in rows)] for one, values in axes.items()}
    longer = len(next(iter(axes.values()))) > len(next(iter(search.axes.values())))
    return dataclasses.replace(search, axes=axes, space=space) if longer else None


def goal(select: Select) -> str:
    """``min`` or ``max``: which values of the metric that tunes are good."""
    return scores.goal(select.tuning_metric, select)


def score(rows: Rows, select: Select) -> float:
    """The score of a run that tunes, from its evaluations. What diverged, or has none, has the worst."""
    values = [float(row[select.tuning_metric]) for row in rows if row["round"] > 0]
    found = scores.score_values(values, select.statistic, goal(select), select.last)
    return scores.worst_score(goal(select)) if rows[-1]["status"] == "diverged" or math.isnan(found) else found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def option_of(spec: CellSpec, name: str) -> Option | None:
    """The declaration of what is tuned: a key of the setting, or a hyper-parameter."""
    return (options(Setting) if name in SETTING else algorithms.get(spec.algorithm).options()).get(name)
