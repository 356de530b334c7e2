"""How fast scores fall along an axis."""

from dataclasses import dataclass

from fedatlas.checks.base import Bounded, OfSeveral
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.errors import UserError
from fedatlas.experiments.selection import numeric
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Speedup(Bounded, OfSeveral):
    """Held if minus the slope of log score against log ``axis`` lies in the bounds, for all algorithms and all values
    of the other axes. A slope of 1 is linear speed-up, 0 is none."""

    name = "speedup"

    axis: str = option(doc="axis of numbers, such as clients", names="axis of numbers")

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        results.check_axis("axis", self.axis)
        others = [axis for axis in results.axes if axis != self.axis]
        texts, held, notes = [], True, []
        for algorithm in self.algorithms:
            rows, name = results.rows(algorithm, self.where), results.name(algorithm)
            if not numeric(rows[self.axis]):
                raise UserError(f"axis: the values of {self.axis} are not numbers")
            for _, part in results.settings(rows, others):
                if not np.isfinite(part["score"]).all():
                    held &= self.at_least is None
                    notes.append(f"{name} diverged.")
                    continue
                part = part[(part["score"] > 0) & (part[self.axis] > 0)]
                if part[self.axis].nunique() < 2:
                    raise NotTested(f"Fewer than two positive scores of {name} along positive values of {self.axis}")
                slope = -np.polyfit(np.log(part[self.axis]), np.log(part["score"]), 1)[0]
                held &= self.within(slope)
                texts.append(f"{name} {slope:.2f}")
        return Outcome(", ".join(texts) or "diverged", held, " ".join(dict.fromkeys(notes)))
