"""Metrics that lie between bounds at every evaluation."""

from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import Bounded, OfSeveral
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.options import option

ROUNDING = 1e-9  # relative


@dataclass(frozen=True, kw_only=True)
class Throughout(Bounded, OfSeveral):
    """Held if a metric, or its ratio to another metric, lies in the bounds at every evaluation of every run, for all
    algorithms and settings of ``where``. What rounding error may explain counts as in the bounds. Evaluations without a
    value, such as round 0 of what is recorded of local steps, do not count."""

    name = "throughout"

    metric: str = option(doc="the metric", names="metric")
    of: str | None = option(None, doc="the metric that it is divided by", names="metric")

    def judge(self, results: Results) -> Outcome:
        texts, held = [], True
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            for name in filter(None, (self.metric, self.of)):
                if name not in rows:
                    raise NotTested(f"{results.name(algorithm)} has no {name}")
            values = rows[self.metric] / rows[self.of] if self.of else rows[self.metric]
            values = values.dropna()
            if values.empty:
                raise NotTested(f"{results.name(algorithm)} has no {self.metric}")
            low, high = float(values.min()), float(values.max())
            lost = int((rows["status"] != "ok").any()) if "status" in rows else 0
            held &= not lost and self._above(low) and self._below(high)
            span = f"{labels.number(low)} to {labels.number(high)}"
            texts.append(f"{results.name(algorithm)} {span} at {len(values)} evaluations{', diverged' if lost else ''}")
        return Outcome(", ".join(texts), held)

    def _above(self, low: float) -> bool:
        return self.at_least is None or low >= self.at_least - ROUNDING * abs(self.at_least)

    def _below(self, high: float) -> bool:
        return self.at_most is None or high <= self.at_most + ROUNDING * abs(self.at_most)
