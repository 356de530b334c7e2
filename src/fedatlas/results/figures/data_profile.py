"""Data profiles (Moré & Wild 2009)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fedatlas.errors import UserError
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.profiles import scaled_costs
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.profile_figure import ProfileFigure, geometric, set_powers_of_two

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 1.06  # times the largest cost, so that the last step is visible


@dataclass(frozen=True, kw_only=True)
class DataProfile(ProfileFigure):
    """The share of problems that each algorithm solves within a cost, in a unit that makes problems comparable.

    Problems, targets and seeds count as in a performance profile. Moré & Wild (2009) count gradients of a problem's
    dimension; here the unit is the problem's budget, the most that any of its runs spends, or what a ``baseline``
    spends on the target, in the median over seeds. Targets that the baseline never attains count as solved at once by
    those that attain them.
    """

    name = "data_profile"

    unit: Literal["budget", "one"] = option(
        "budget", doc="unit of the cost: the problem's budget, or one of what is counted"
    )
    baseline: str | None = option(
        None, doc="algorithm whose cost of the target is the unit, in place of the budget", names="algorithm"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.baseline is not None:
            if self.unit != "budget":
                raise UserError(f"{self.title()}: the baseline is the unit; leave out unit or baseline")
            if self.algorithms is not None and self.baseline not in self.algorithms:
                raise UserError(f"{self.title()}: the baseline {self.baseline!r} must be one of the algorithms")

    def instance_values(self, benchmark: Benchmark) -> np.ndarray:
        baseline = None if self.baseline is None else benchmark.algorithms.index(self.baseline)
        return scaled_costs(benchmark, baseline, raw=self.unit == "one")

    def grid(self, values: np.ndarray) -> np.ndarray:
        finite = values[np.isfinite(values) & (values > 0)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.5, 1.0)
        return geometric(low, high * MARGIN if high > low else 2 * low)

    def scale_x(self, ax: "Axes", x: np.ndarray) -> None:
        set_powers_of_two(ax, float(x[0]), float(x[-1]))

    def x_label(self, data: FigureData) -> str:
        if self.baseline is not None:
            return f"{self.cost_name}, as a multiple of what {data.names[self.baseline]} spends"
        return self.words if self.unit == "one" else f"{self.cost_name}, as a share of the budget"
