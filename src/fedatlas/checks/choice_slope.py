"""How the best value of a hyper-parameter grows along an axis."""

from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import Bounded, OfOne
from fedatlas.checks.evidence import exact
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.errors import UserError
from fedatlas.experiments.selection import numeric
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class ChoiceSlope(Bounded, OfOne):
    """Held if the slope of the log of a hyper-parameter's chosen value against log ``axis`` lies in the bounds.

    A slope of 2 is a square law.
    """

    name = "choice_slope"

    parameter: str = option(doc="hyper-parameter of the algorithm that is tuned over numbers", names="tuned numbers")
    axis: str = option(doc="axis of numbers", names="axis of numbers")

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        axis, parameter = self.axis, self.parameter
        rows = results.rows(self.algorithm, self.where)
        results.check_axis("axis", axis)
        results.check_tuned(parameter, rows, self.algorithm)
        if not numeric(rows[axis]) or not numeric(rows[parameter]):
            raise UserError(f"the values of {axis} and {parameter} must be numbers")
        rows = rows[(rows[axis] > 0) & (rows[parameter] > 0)]
        if rows[axis].nunique() < 2:
            raise NotTested(f"Fewer than two positive values of {axis}")
        slope = float(np.polyfit(np.log(rows[axis]), np.log(rows[parameter]), 1)[0])
        pairs = zip(rows[axis], rows[parameter], strict=True)
        chosen = ", ".join(f"{labels.number(value)} at {labels.point(axis, at)}" for at, value in pairs)
        return exact(f"slope {slope:.2f}", self.limits().side(slope) == 0, f"The best {parameter} is {chosen}.")
