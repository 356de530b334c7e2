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
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import AlgorithmFigure, Drawing
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import DIVERGING, SEQUENTIAL

if TYPE_CHECKING:
    from pandas import DataFrame, Index

    from fedatlas.experiments.cells import Run

MAX_NUMBERS = 121  # cells of a panel that have their numbers


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
        import seaborn as sns

        panels = self._panels(data)
        numbers = pd.concat({title: panel.stack().rename(data.y) for title, panel in panels.items()}, names=["panel"])
        numbers = numbers.reset_index()
        figure, axes = layout.grid(len(panels))
        low, high = float(numbers[data.y].min()), float(numbers[data.y].max())
        colours = sns.blend_palette(SEQUENTIAL if self.center is None else DIVERGING, as_cmap=True)
        if self.center is not None:
            reach = max(high - self.center, self.center - low)
            low, high = self.center - reach, self.center + reach
        for ax, (title, panel) in zip(axes, panels.items(), strict=True):
            sns.heatmap(panel, ax=ax, vmin=low, vmax=high, cmap=colours, cbar=False, rasterized=True,
                        annot=panel.size <= MAX_NUMBERS, fmt=".0f", annot_kws={"fontsize": 6.5},
                        xticklabels=_tick_labels(panel.columns), yticklabels=_tick_labels(panel.index))  # fmt: skip
            ax.set(title=title, xlabel="", ylabel="")
            ax.tick_params(length=0, rotation=0)
        axes[0].invert_yaxis()  # of all panels, which share it
        problem = data.view.problem
        layout.label(axes, labels.axis(self.x, problem), labels.axis(self.rows, problem))
        bar = figure.colorbar(axes[0].collections[0], ax=axes, pad=0.02, aspect=24)
        bar.set_label(labels.quantity(data.y))
        bar.outline.set_visible(False)
        layout.add_notes(figure, f"Means over {data.counted_seeds} and the rounds from {self.after} on.")
        return Drawing(figure, numbers)

    def _panels(self, data: FigureData) -> "dict[str, DataFrame]":
        """Return values by rows and x, by title of the panel."""
        from fedatlas.theory.closed_forms import LIMITS, late_means

        data.require(data.curves, self.x, self.rows, data.y)
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
    points = [[dict(zip(axes, (c, r), strict=True)) for c in panel.columns] for r in panel.index]
    values = [[limit(view.problem, probabilities(view.setting, point)) for point in row] for row in points]
    return type(panel)(values, panel.index, panel.columns)


def _tick_labels(cells: "Index") -> list[str]:
    """Return the labels of an axis's cells, of which at most 6 are not empty."""
    step = -(-len(cells) // 6)
    return [labels.text(parse(cell)) if index % step == 0 else "" for index, cell in enumerate(cells)]
