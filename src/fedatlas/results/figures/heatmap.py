"""A metric over two axes, beside its closed form."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.errors import UserError, lookup
from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.selection import sorted_values
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import AlgorithmFigure, Drawing
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Heatmap(AlgorithmFigure):
    """The mean of a metric over seeds and late rounds, against two axes: a panel for each algorithm."""

    name = "heatmap"

    x: str = option(doc="axis that runs to the right", names="axis")
    rows: str = option(doc="axis that runs upwards", names="axis")
    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    after: int = option(0, doc="round from which the mean is taken", unit="rounds", low=0)
    limit: str | None = option(
        None, doc="closed form of the metric's limit, drawn in a panel of its own", names="limit"
    )
    center: float | None = option(None, doc="value of the metric at which the colours part")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.x == self.rows:
            raise UserError(f"{self.title()}: x and rows are both {self.x}; they must differ")

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import closed_forms

        for _, run in runs if self.limit else ():
            closed_forms.validate(run.problem, run.setting)

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        panels = self._panels(data)
        numbers = pd.concat({title: part.stack().rename(data.y) for title, part in panels.items()}, names=["panel"])
        numbers = numbers.reset_index()
        figure, axes = layout.grid(len(panels))
        low, high = (float(end(numbers[data.y])) for end in (min, max))
        if self.center is not None:
            reach = max(high - self.center, self.center - low)
            low, high = self.center - reach, self.center + reach
        shades = _shades(self.center is not None)
        for ax, (title, part) in zip(axes, panels.items(), strict=True):
            image = ax.imshow(part, origin="lower", aspect="auto", cmap=shades, vmin=low, vmax=high)
            ax.set_title(title)
            ax.grid(False)
            _ticks(ax.xaxis, part.columns)
            _ticks(ax.yaxis, part.index)
            if part.size <= 121:
                _write(ax, part.to_numpy(), low, high)
        problem = data.view.problem
        layout.label(axes, labels.axis(self.x, problem), labels.axis(self.rows, problem))
        bar = figure.colorbar(image, ax=axes, pad=0.02, aspect=24)
        bar.set_label(labels.quantity(data.y))
        bar.outline.set_visible(False)
        layout.foot(figure, f"Means over {data.counted_seeds} and the rounds from {self.after} on.")
        return Drawing(figure, numbers)

    def _panels(self, data: FigureData) -> "dict[str, DataFrame]":
        """Values by rows and x, by title of the panel."""
        from fedatlas.theory.closed_forms import LIMITS, late_means

        data.column(data.curves, self.x, self.rows, data.y)
        axes = ["algorithm", self.rows, self.x]
        drawn = data.rows(data.curves)
        means = late_means(drawn, axes, data.y, self.after)
        if means.empty:
            raise data.error(f"there are no evaluations from round {self.after} on")
        means = means.groupby(level=axes).mean()
        order = {"index": sorted_values(drawn[self.rows]), "columns": sorted_values(drawn[self.x])}
        panels = {
            data.names[id]: means[id].unstack(self.x).reindex(**order)
            for id in data.styles
            if id in means.index.levels[0]
        }
        if self.limit is None:
            return panels
        closed = _closed(lookup("limit", self.limit, LIMITS), data.view, next(iter(panels.values())))
        return {"closed form": closed} | panels


def _closed(limit: Callable[..., float], view: ExperimentView, like: "DataFrame") -> "DataFrame":
    """A closed form at the points of another panel."""
    from fedatlas.theory.closed_forms import probabilities

    axes = (like.columns.name, like.index.name)
    points = [[dict(zip(axes, (c, r), strict=True)) for c in like.columns] for r in like.index]
    values = [[limit(view.problem, probabilities(view.setting, point)) for point in row] for row in points]
    return type(like)(values, like.index, like.columns)


def _shades(two_sided: bool) -> "Colormap":
    import seaborn as sns

    if two_sided:
        return sns.blend_palette(["#08306b", "#6aaed6", "#f7f7f7", "#f4a259", "#7f2704"], as_cmap=True)
    return sns.blend_palette(["#ffffff", "#cfe3f1", "#6aaed6", "#2171b5", "#08306b"], as_cmap=True)


def _ticks(axis: "Axis", values: Sequence[object]) -> None:
    step = -(-len(values) // 6)
    axis.set_ticks(range(0, len(values), step), [labels.text(parse(cell)) for cell in values[::step]])
    axis.set_tick_params(length=0)


def _write(ax: "Axes", values: np.ndarray, low: float, high: float) -> None:
    """Whole numbers into the cells, light on dark."""
    for (row, column), value in np.ndenumerate(values):
        dark = abs(value - (low + high) / 2) > 0.3 * (high - low)
        ax.text(
            column, row, f"{value:.0f}", ha="center", va="center", fontsize=6.5, color="white" if dark else "#1a1a1a"
        )
