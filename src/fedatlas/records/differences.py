"""Differences between a run of a record and its second computation."""

import math
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fedatlas.experiments.cells import EXCHANGES
from fedatlas.experiments.run import Row
from fedatlas.records.verified import TOLERANCES

ROUNDING = 4  # units in the last place of a metric's first value, which its evaluation rounds to
NO_NUMBERS = ("seconds",)  # of a second computation


class Difference(NamedTuple):
    """The first difference between a run of a record and its second computation.

    Attributes:
        where: Column and round.
        recorded: Value in the record.
        computed: Value by today's code.
    """

    where: str
    recorded: Any
    computed: Any

    def __str__(self) -> str:
        return f"{self.where} is {self.recorded} in the record and {self.computed} by today's code"


def compare(
    recorded: Sequence[Row], computed: Sequence[Row], tolerance: float, some_rows: bool = False
) -> tuple[Difference | None, float]:
    """Compare the rows of a run in a record with those of its second computation.

    A value differs if it is off by more than the tolerance, relative to itself, and by more than the rounding of an
    evaluation: some units in the last place of the first value of its metric, or of the loss, from which a
    suboptimality is taken.

    Args:
        recorded: Rows of the record.
        computed: Rows of the second computation.
        tolerance: Relative difference up to which numbers are equal.
        some_rows: Whether the record keeps some rows and metrics alone.

    Returns:
        The first difference, if there is one; and the largest relative difference that is within the tolerance.
    """
    rounds, again = [[row["round"] for row in rows] for rows in (recorded, computed)]
    if rounds[-1] != again[-1] or not (set(rounds) <= set(again) if some_rows else rounds == again):
        return Difference("the list of evaluated rounds", rounds, again), 0.0
    by_round = {row["round"]: row for row in computed}
    names = [sorted({name for row in rows for name in row}) for rows in (recorded, computed)]
    if not (set(names[0]) <= set(names[1]) if some_rows else names[0] == names[1]):
        return Difference("the list of columns", *names), 0.0
    precision = float(np.finfo(np.float32 if tolerance == TOLERANCES["float32"] else np.float64).eps)
    first = {name: _number(value) for name, value in recorded[0].items()}
    first["suboptimality"] = first.get("loss", 0.0)  # from which F* is taken
    ignored = {*NO_NUMBERS, *((EXCHANGES,) if some_rows else ())}
    largest = 0.0
    for row in recorded:
        other = by_round[row["round"]]
        for name in set(names[0]) - ignored:
            held, found = row.get(name, math.nan), other.get(name, math.nan)  # a file has NaN where a row has nothing
            distance = _distance(held, found, ROUNDING * precision * abs(first.get(name, 0.0)))
            if not distance <= tolerance:
                return Difference(f"{name} in round {row['round']}", held, found), largest
            largest = max(largest, distance)
    return None, largest


def _number(value: Any) -> float:
    """Return a finite number, or 0."""
    return float(value) if isinstance(value, numbers.Real) and np.isfinite(float(value)) else 0.0


def _distance(recorded: Any, computed: Any, rounding: float) -> float:
    """Return the distance of two values relative to the recorded one; 0 below a rounding, infinite for other things."""
    if recorded == computed or (recorded != recorded and computed != computed):
        return 0.0
    if not (isinstance(recorded, numbers.Real) and isinstance(computed, numbers.Real)):
        return float("inf")
    gap = abs(float(recorded) - float(computed))
    if not np.isfinite(gap):
        return float("inf")
    return 0.0 if gap <= rounding else gap / abs(float(recorded)) if recorded else float("inf")
