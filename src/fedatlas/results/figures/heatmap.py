"""A metric over two axes, beside its closed form."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import UserError, lookup
from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.selection import sorted_values
from fedatlas.registry.options import option
from fedatlas.results.figures.base import AlgorithmFigure, Drawing
from fedatlas.results.figures.description import Heatmap
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class HeatmapFigure(AlgorithmFigure):
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

        panels, problem = self._panels(data), data.view.problem
        numbers = pd.concat({title: panel.stack().rename(data.y) for title, panel in panels.items()}, names=["panel"])
        description = Heatmap(
            x=(self.x, labels.axis(self.x, problem)),
            y=(self.rows, labels.axis(self.rows, problem)),
            value=(data.y, labels.quantity(data.y)),
            center=self.center,
            numbers=True,
            note=f"Means over {data.counted_seeds} and the rounds from {self.after} on.",
        )
        return Drawing(numbers.reset_index(), description)

    def _panels(self, data: FigureData) -> "dict[str, DataFrame]":
        """Return values by rows and x, by title of the panel."""
        from fedatlas.theory.closed_forms import LIMITS, late_means

        axes = ["algorithm", self.rows, self.x]
        rows = data.rows(data.curves)
        means = late_means(rows, axes, data.y, self.after)
        if means.empty:
            raise data.error(f"there are no evaluations from round {self.after} on")
        means = means.groupby(level=axes).mean()
        order = {"index": sorted_values(rows[self.rows]), "columns": sorted_values(rows[self.x])}
        panels = {
            data.names[id]: means[id].unstack(self.x).reindex(**order)
            for id in data.styles
            if id in means.index.levels[0]
        }
        if self.limit is None:
            return panels
        closed = _closed_form(lookup("limit", self.limit, LIMITS), data.view, next(iter(panels.values())))
        return {"closed form": closed} | panels


def _closed_form(limit: Callable[..., float], view: ExperimentView, panel: "DataFrame") -> "DataFrame":
    """Return a closed form at the points of a panel."""
    from fedatlas.theory.closed_forms import probabilities

    axes = (panel.columns.name, panel.index.name)
    points = [[dict(zip(axes, map(parse, (c, r)), strict=True)) for c in panel.columns] for r in panel.index]
    values = [[limit(view.problem, probabilities(view.setting, point)) for point in row] for row in points]
    return type(panel)(values, panel.index, panel.columns)
