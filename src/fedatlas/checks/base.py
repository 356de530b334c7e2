"""What a check of a claim is given, and what it answers."""

import inspect
import math
from dataclasses import dataclass

from fedatlas import labels
from fedatlas.errors import UserError
from fedatlas.experiments.selection import goal, matching
from fedatlas.figures import style
from fedatlas.registry import did_you_mean

KINDS = {}


@dataclass(frozen=True)
class Outcome:
    """What a check found: ours as text, whether the claim held, and a remark."""

    ours: str
    held: bool
    note: str = ""


class NotTested(Exception):
    """The results do not hold what a claim is about; the text says what is missing."""


def kind(name, one_of=()):
    """Register a check. one_of: options of which a claim must give at least one."""

    def register(function):
        parameters = list(inspect.signature(function).parameters.values())[1:]
        function.options = [p.name for p in parameters]
        function.required = [p.name for p in parameters if p.default is p.empty]
        function.one_of = tuple(one_of)
        KINDS[name] = function
        return function

    return register


class Results:
    """Chosen rows and curves of an experiment, asked by algorithm and setting."""

    def __init__(self, experiment, table, curves):
        self.axes = [*experiment["grid"], *experiment["within"]]
        self.select = experiment["select"]
        self.problem, self.setting = experiment.get("problem", {}), experiment.get("setting", {})
        self.entries = {
            id: {"algorithm": entry.get("algorithm", id), **entry} for id, entry in experiment["algorithms"].items()
        }
        self.table, self.chosen, self.curves = table, table[table["chosen"]], curves
        self.about = {"problem": experiment["problem"], "setting": experiment["setting"]}
        self.about |= {"axes": self.axes, "algorithms": self.entries}

    def name(self, algorithm):
        """Name of an algorithm for people."""
        return style.name_of(algorithm, self.entries[algorithm])

    def rows(self, algorithm, where=None, frame=None):
        """Rows of an algorithm in the settings of where. Raises NotTested if there are none."""
        if algorithm not in self.entries:
            raise UserError(f"unknown algorithm {algorithm!r}{did_you_mean(algorithm, self.entries)}")
        frame = self.chosen if frame is None else frame
        for axis in where or {}:
            if axis not in self.axes:
                raise UserError(f"where: {axis!r} is not an axis{did_you_mean(axis, self.axes)}")
        found = matching(frame, where)
        found = found[found["algorithm"] == algorithm]
        if found.empty:
            places = ", ".join(f"{labels.short(axis)} = {labels.text(value)}" for axis, value in (where or {}).items())
            raise NotTested(f"No results of {self.name(algorithm)}" + (f" at {places}" if places else ""))
        return found

    def values(self, algorithm, where=None, metric=None, statistic=None):
        """Scores, or values of another metric, by setting: {point of the axes: number}; inf or -inf if diverged."""
        rows = self.rows(algorithm, where)
        column = self.column(metric, statistic)
        bad = math.inf if self.goal(metric) == "min" else -math.inf
        points = [tuple(row) for row in rows[self.axes].itertuples(index=False)] if self.axes else [()]
        numbers = zip(rows[column], rows["diverged"] > 0, strict=True)
        return {p: bad if lost or math.isnan(v) else float(v) for p, (v, lost) in zip(points, numbers, strict=True)}

    def column(self, metric=None, statistic=None):
        """Column of the table that holds a metric; ``score`` for the one that selects."""
        metric, statistic = metric or self.select["metric"], statistic or self.select["statistic"]
        if (metric, statistic) == (self.select["metric"], self.select["statistic"]):
            return "score"
        known = [c.removeprefix("best_") for c in self.chosen if c.startswith("best_")]
        if metric not in known:
            raise UserError(f"unknown metric {metric!r}{did_you_mean(metric, known)}")
        return f"{statistic}_{metric}"

    def goal(self, metric=None):
        """``min`` or ``max``: which values of a metric are good."""
        return goal(metric or self.select["metric"], self.select)

    def point(self, point):
        """A point of the axes for people."""
        return ", ".join(labels.point(axis, value) for axis, value in zip(self.axes, point, strict=True))
