"""A metric over two axes, beside its closed form."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import UserError, lookup
from fedatlas.experiments import labels
from fedatlas.experiments.values import parse_cell
from fedatlas.registry.options import option
from fedatlas.results.figures import AlgorithmFigure, Drawing, FigureData
from fedatlas.results.figures.description import Heatmap

if TYPE_CHECKING:
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

        from fedatlas.theory.closed_forms import LIMITS, late_means, probabilities

        view, keys = data.view, ["algorithm", self.rows, self.x]
        means = late_means(data.rows(data.curves), keys, data.y, self.after).groupby(level=keys).mean()
        if means.empty:
            raise data.error(f"there are no evaluations from round {self.after} on")
        frame = means.rename(data.y).reset_index()
        parts = [frame[frame["algorithm"] == id].assign(panel=name) for id, name in data.names.items()]
        if self.limit:
            limit, points = lookup("limit", self.limit, LIMITS), frame[keys[1:]].drop_duplicates()
            values = [
                limit(
                    view.problem, probabilities(view.setting, {axis: parse_cell(cell) for axis, cell in point.items()})
                )
                for point in points.to_dict("records")
            ]
            parts.insert(0, points.assign(**{data.y: values, "panel": "closed form"}))
        description = Heatmap(
            x=(self.x, labels.axis(self.x, view.problem)),
            y=(self.rows, labels.axis(self.rows, view.problem)),
            value=(data.y, labels.quantity(data.y)),
            note=f"Means over {data.counted_seeds} and the rounds from {self.after} on.",
        )
        return Drawing(pd.concat(parts, ignore_index=True)[["panel", self.rows, self.x, data.y]], description)
