"""Metrics that lie between bounds at every evaluation."""

from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome

ROUNDING = 1e-9  # relative


@dataclass(frozen=True, kw_only=True)
class Throughout(BoundedCheck, MultiAlgorithmCheck):
    """Held if a metric, or its ratio to another metric, lies in the bounds at every evaluation of every run, for all
    algorithms and settings of ``where``; NAME_rounds_min and NAME_rounds_max are of all rounds. What rounding error may
    explain counts as in the bounds. Evaluations without a value, such as round 0 of what is recorded of local steps, do
    not count."""

    name = "throughout"

    metric: str = option(doc="the metric", names="metric")
    of: str | None = option(None, doc="the metric that it is divided by", names="metric")

    def judge(self, results: Results) -> Outcome:
        texts, held, seeds = [], True, 0
        columns = [column for column in (self.metric, self.of) if column is not None]
        words = " / ".join(map(labels.words, columns))
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            for column in columns:
                if column not in rows:
                    raise NotTested(f"{results.name(algorithm)} has no {column}")
            values = (rows[self.metric] / rows[self.of] if self.of else rows[self.metric]).dropna()
            if not (count := len(values)):
                raise NotTested(f"{results.name(algorithm)} has no {self.metric}")
            within = sum(map(self._close, values))
            diverged = "status" in rows and bool((rows["status"] == "diverged").any())
            held &= not diverged and within == count
            seeds = max(seeds, rows["seed"].nunique())
            low, high = values.min(), values.max()
            counts = f"{self.limits_text()} at {within} of {count} evaluations{', diverged' if diverged else ''}"
            ends = " to ".join(dict.fromkeys(labels.number(end, 5) for end in (low, high)))
            texts.append(f"{results.name(algorithm)}: {words} {ends}, {counts}")
        return exact_outcome("; ".join(texts), held, seeds=seeds)

    def _close(self, value: float) -> bool:
        """Return whether a number lies in the bounds, up to rounding error."""
        return self.limits().side(value) == 0 or any(
            bound is not None and abs(value - bound) <= ROUNDING * abs(bound) for bound in (self.at_least, self.at_most)
        )
