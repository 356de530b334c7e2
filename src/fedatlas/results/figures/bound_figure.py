"""Base class of figures of a measured quantity and of theorems' bounds on it."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import LineChart, chart_lines, plain_text
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.theory import NotCovered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


class BoundLine(NamedTuple):
    """The line of a bound: its name, and its properties as matplotlib names them."""

    name: str
    properties: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class BoundFigure(PanelFigure):
    """A measured quantity, mean and range over seeds, and its bounds.

    A bound that is far above all that is measured is told in words, as it would press the measured lines flat.

    Attributes:
        abscissa: Column of the abscissa in the result of `numbers`.
    """

    abscissa: ClassVar[str]

    @abstractmethod
    def words(self) -> tuple[str, str]:
        """Return the words of abscissa and quantity."""

    @abstractmethod
    def bounds(self) -> dict[str, BoundLine]:
        """Return the lines of the bounds, by column in the result of `numbers`."""

    @abstractmethod
    def numbers(self, data: FigureData, id: str, rows: "DataFrame") -> "DataFrame":
        """Return abscissa, bounds, and ``mean``, ``low`` and ``high`` of the quantity, from an algorithm's curves.

        Raises NotCovered if the theorem says nothing of these runs.
        """

    def draw(self, data: FigureData) -> Drawing:
        from matplotlib.ticker import NullFormatter

        panels = data.panels(data.rows(data.curves))
        figure, axes = layout.grid(len(panels), share_x=False)
        parts: list[tuple[str, str, DataFrame]] = []
        places: list[Axes] = []
        reasons: set[str] = set()
        for ax, (title, panel) in zip(axes, panels, strict=True):
            ax.set(title=title, xscale="log", yscale="log")
            ax.xaxis.set_minor_formatter(NullFormatter())
            for id, rows in ((id, panel[panel["algorithm"] == id]) for id in data.styles):
                if rows.empty:
                    continue
                try:
                    parts.append((title, id, self.numbers(data, id, rows)))
                    places.append(ax)
                except NotCovered as reason:
                    reasons.add(f"Not drawn: {reason}.")
        bounds = self.bounds()
        ratios = {
            column: np.concatenate([numbers[column] / numbers["mean"] for _, _, numbers in parts] or [np.ones(1)])
            for column in bounds
        }
        shown = {column: bound for column, bound in bounds.items() if not np.nanmin(ratios[column]) > layout.FAR_BOUND}
        for ax, (_, id, numbers) in zip(places, parts, strict=True):
            self._draw_quantity(ax, data, id, numbers)
            for column, bound in shown.items():
                ax.plot(numbers[self.abscissa], numbers[column], color=layout.NOTE_COLOUR, **bound.properties)
        counted, quantity = self.words()
        layout.label(axes, counted, quantity)
        handles = [layout.note_handle(bound.name, **bound.properties) for bound in shown.values()]
        layout.legend(figure, data.styles, data.names, *handles)
        above = [
            f"Above the figure: the {bound.name}, {layout.range_of_ratios(ratios[column])}."
            for column, bound in bounds.items()
            if column not in shown
        ]
        note = " ".join(filter(None, [data.note(), *above]))
        layout.add_notes(figure, layout.wrap_notes(figure.get_figwidth(), note, *sorted(reasons)))
        chart = LineChart(
            x={self.abscissa: counted},
            y=("mean", plain_text(quantity)),
            lines=chart_lines(data.styles, data.names),
            range=("low", "high"),
            dotted={column: bound.name for column, bound in shown.items()},
            logx=True,
            logy=True,
            note=note,
        )
        return Drawing(figure, data.tidy(parts), chart)

    def _draw_quantity(self, ax: "Axes", data: FigureData, id: str, numbers: "DataFrame") -> None:
        """Draw the measured quantity of an algorithm with its range."""
        style = data.styles[id]
        x, mean, low, high = (numbers[name].to_numpy() for name in (self.abscissa, "mean", "low", "high"))
        marked = np.unique(np.geomspace(1, len(x), 9).astype(int) - 1).tolist()
        layout.draw_range(ax, style, x, low, high, data.position(id), marked)
        ax.plot(x, mean, markevery=marked, **style.properties)
