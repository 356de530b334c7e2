"""The growth along an axis of the best value of a hyper-parameter."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.scores import goal
from fedatlas.experiments.selection import is_numeric
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck, BoundedCheck
from fedatlas.results.claims.evidence import Evidence, judge_all
from fedatlas.results.claims.exponents import exponent
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import sample

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class ChoiceSlope(BoundedCheck, AlgorithmCheck):
    """Held if the slope of the log of a hyper-parameter's best value against log ``axis`` lies in the bounds.

    Each tuning seed has its best values and its slope. A slope of 2 is a square law.
    """

    name = "choice_slope"
    tunes = True

    parameter: str = option(doc="hyper-parameter of the algorithm that is tuned over numbers", names="tuned numbers")
    axis: str = option(doc="axis of numbers", names="axis of numbers")

    def judge(self, results: Results) -> Outcome:
        axis, parameter, select = self.axis, self.parameter, results.view.select
        rows = results.rows(self.algorithm, self.where, results.trials)
        results.validate_axis("axis", axis)
        results.validate_tuned(parameter, rows, self.algorithm)
        if not is_numeric(rows[axis]) or not is_numeric(rows[parameter]):
            raise UserError(f"the values of {axis} and {parameter} must be numbers")
        rows = rows[(rows[axis] > 0) & (rows[parameter] > 0)]
        if rows[axis].nunique() < 2:
            raise NotTested(f"Fewer than two positive values of {axis}")
        small, slopes = goal(select.tuning_metric, select) == "min", []
        for _, seed_rows in rows.groupby("seed"):
            best = [_best(part, small) for _, part in results.settings(seed_rows)]
            slopes.append(exponent(*([float(row[name]) for row in best] for name in (axis, parameter))))
        pairs = [f"{labels.number(row[parameter])} at {labels.point(axis, row[axis])}" for row in best]
        letters = labels.symbol(parameter) or parameter, labels.short_axis(axis)
        template = f"{results.name(self.algorithm)}: slope {{}} of log {letters[0]} against log {letters[1]}"
        note = f"The best {parameter} of the last seed is {', '.join(pairs)}."
        return judge_all(
            [Evidence(sample(slopes, exact=results.is_deterministic(self.algorithm)), self.limits(), template)],
            note,
            self.more,
        )


def _best(rows: "pd.DataFrame", small: bool) -> "pd.Series":
    """Return the run with the best score. small: whether small scores are good."""
    return rows.loc[rows["score"].idxmin() if small else rows["score"].idxmax()]
