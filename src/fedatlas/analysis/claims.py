"""Claims of papers as checks over results. A kind of check is a function, registered by name.

It gets the Results and the options of the claim's ``check`` as arguments, and returns an Outcome; what it cannot test
it raises as NotTested. To add one, write it below: its signature says which options a claim may and must give.
"""

import inspect
import math
from dataclasses import dataclass

from fedatlas.analysis import labels, style
from fedatlas.analysis.select import matching, numeric
from fedatlas.errors import UserError
from fedatlas.registry import did_you_mean, lookup

HELD, NOT_HELD, NOT_TESTED = "held", "not held", "not tested at this size"
COLUMNS = ("experiment", "size", "claim", "text", "source", "paper", "ours", "verdict", "note")
ROUNDING = 1e-14  # differences of scores that double precision does not resolve

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


def check(experiment, table, curves):
    """Check all claims of a loaded experiment: a DataFrame with COLUMNS. Raises UserError naming file and claim."""
    import pandas as pd

    results = Results(experiment, table, curves)
    rows = []
    for name, claim in experiment["claims"].items():
        options = dict(claim["check"])
        row = {"experiment": experiment["name"], "size": experiment["size"], "claim": name, "ours": ""}
        row |= {"text": claim["text"], "source": claim["source"], "paper": options.get("paper", "")}
        row |= {"verdict": NOT_TESTED, "note": _join(claim.get("note", ""))}
        if experiment["size"] in claim.get("sizes", [experiment["size"]]):
            try:
                outcome = run(results, options)
                row |= {"ours": outcome.ours, "verdict": HELD if outcome.held else NOT_HELD}
                row["note"] = _join(outcome.note, row["note"])
            except NotTested as reason:
                row["note"] = _join(f"{reason}.", row["note"])
            except UserError as error:
                raise UserError(f"{experiment['file']}: claims.{name}: {error}") from None
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def run(results, options):
    """Outcome of one check, given as ``{"kind": ..., option: ...}``."""
    options = dict(options)
    function = lookup("kind of check", options.pop("kind"), KINDS)
    if "paper" not in function.options:
        options.pop("paper", None)
    return function(results, **options)


def _join(*notes):
    return " ".join(" ".join(notes).split())


class Results:
    """Chosen rows and curves of an experiment, asked by algorithm and setting."""

    def __init__(self, experiment, table, curves):
        self.axes = [*experiment["grid"], *experiment["within"]]
        self.select = experiment["select"]
        self.entries = {
            id: {"algorithm": entry.get("algorithm", id), **entry} for id, entry in experiment["algorithms"].items()
        }
        self.chosen, self.curves = table[table["chosen"]], curves

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
        if metric in (None, self.select["metric"]):
            return self.select["goal"]
        return "max" if "accuracy" in metric else "min"

    def point(self, point):
        """A point of the axes for people."""
        return ", ".join(labels.point(axis, value) for axis, value in zip(self.axes, point, strict=True))


@kind("rounds_to")
def rounds_to(results, algorithm, target, where=None, paper=None):
    """Fewest rounds of any setting in ``where`` whose score attains ``target``; held if at most ``paper``."""
    rows = results.rows(algorithm, where)
    low = results.goal() == "min"
    there = rows[(rows["score"] <= target) if low else (rows["score"] >= target)]
    if there.empty:
        best = rows["score"].min() if low else rows["score"].max()
        return Outcome(f"not attained; best {labels.number(best)}", False)
    fewest = there.loc[there["rounds"].idxmin()]
    rounds = float(fewest["rounds"])
    note = f"At {labels.setting(fewest, results.axes)}." if results.axes else ""
    return Outcome(labels.number(rounds), paper is None or rounds <= paper, note)


@kind("first_round")
def first_round(results, algorithm, target, metric=None, where=None, paper=None):
    """First evaluated round at which the mean of a metric over seeds attains ``target``, in every setting of ``where``.

    Held if at most ``paper``.
    """
    metric = metric or results.select["metric"]
    results.column(metric)
    rows = results.rows(algorithm, where, results.curves)
    firsts = []
    for _, curve in rows.groupby(results.axes, sort=False) if results.axes else [((), rows)]:
        groups = curve.groupby("round")[metric]
        mean = groups.mean()[groups.count() == curve["seed"].nunique()]  # a seed that diverged has no value
        there = mean[(mean <= target) if results.goal(metric) == "min" else (mean >= target)]
        firsts.append(float(there.index.min()) if len(there) else math.inf)
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
