"""Performance profiles (Dolan & Moré 2002)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.profiles import performance_ratios
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.profile_figure import ProfileFigure, geometric, set_powers_of_two

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class PerformanceProfile(ProfileFigure):
    """The share of problems that each algorithm solves at a cost of at most r times the best one's, against r.

    A problem is a point of the axes. Each of its targets and seeds is an instance of it; algorithms meet on the same
    seed, and all problems have the same weight (Dolan & Moré 2002; Hansen et al. 2021). A run that never attains a
    target does not solve it at any r. The best cost is that of the algorithms that are drawn.
    """

    name = "performance_profile"

    within: float = option(16.0, doc="largest ratio that is drawn", above=1)

    def instance_values(self, benchmark: Benchmark) -> np.ndarray:
        return performance_ratios(benchmark.numbers)

    def grid(self, values: np.ndarray) -> np.ndarray:
        return geometric(1.0, self.within)

    def scale_x(self, ax: "Axes", x: np.ndarray) -> None:
        set_powers_of_two(ax, 1.0, self.within)

    def x_label(self, data: FigureData) -> str:
        return f"{self.cost_name}, as a multiple of the best"
