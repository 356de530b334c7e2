"""Metrics that lie between bounds at every evaluation."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9  # relative


@dataclass(frozen=True, kw_only=True)
class Throughout(BoundedCheck, MultiAlgorithmCheck):
    """Held if a metric, or its ratio to another metric, lies in the bounds at every evaluation of every run, for all
    algorithms and settings of ``where``. What rounding error may explain counts as in the bounds. Evaluations without a
    value, such as round 0 of what is recorded of local steps, do not count."""

    name = "throughout"

    metric: str = option(doc="the metric", names="metric")
    of: str | None = option(None, doc="the metric that it is divided by", names="metric")

    def judge(self, results: Results) -> Outcome:
        texts, held, seeds = [], True, 0
        columns = [column for column in (self.metric, self.of) if column is not None]
        name, words = " / ".join(columns), " / ".join(map(labels.words, columns))
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            for column in columns:
                if column not in rows:
                    raise NotTested(f"{results.name(algorithm)} has no {column}")
            lowest, highest, evaluations, inside = (
                [
                    results.of_runs(f"{words} {name}", part, functools.partial(self._statistic, statistic))
                    for _, part in results.settings(rows)
                ]
                for words, statistic in (
                    ("lowest", "min"),
                    ("highest", "max"),
                    ("evaluations of", "count"),
                    (f"evaluations with {self.at_least} to {self.at_most} of", self._inside),
                )
            )
            if not (count := int(sum(map(sum, evaluations)))):
                raise NotTested(f"{results.name(algorithm)} has no {self.metric}")
            within = int(sum(map(sum, inside)))
            diverged = "status" in rows and bool((rows["status"] == "diverged").any())
            held &= not diverged and within == count
            seeds = max(seeds, rows["seed"].nunique())
            low, high = min(part.min() for part in lowest), max(part.max() for part in highest)
            counts = f"{self.limits_text()} at {within} of {count} evaluations{', diverged' if diverged else ''}"
            ends = " to ".join(dict.fromkeys(labels.number(end, 5) for end in (low, high)))
            texts.append(f"{results.name(algorithm)}: {words} {ends}, {counts}")
        return exact_outcome("; ".join(texts), held, seeds=seeds)

    def _statistic(self, statistic: "str | Callable[[pd.Series], int]", rows: "pd.DataFrame") -> "pd.Series":
        """Return a statistic of the values of each run, by seed."""
        values = rows[self.metric] / rows[self.of] if self.of else rows[self.metric]
        return values.groupby(rows["seed"]).agg(statistic)

    def _inside(self, values: "pd.Series") -> int:
        """Return the number of values in the bounds."""
        return sum(map(self._close, values.dropna()))

    def _close(self, value: float) -> bool:
        """Return whether a number lies in the bounds, up to rounding error."""
        return self.limits().side(value) == 0 or any(
            bound is not None and abs(value - bound) <= ROUNDING * abs(bound) for bound in (self.at_least, self.at_most)
        )
