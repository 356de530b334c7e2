"""What a kind of figure is, and the options that several kinds share."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option

if TYPE_CHECKING:
    import matplotlib.figure
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run
    from fedatlas.results.figures.browser_chart import Chart, Grid, Sentences
    from fedatlas.results.figures.figure_data import FigureData

Scale = Literal["log", "linear"]


@dataclass(frozen=True)
class Drawing:
    """The result of a figure.

    Attributes:
        figure: The matplotlib figure, without a final layout.
        numbers: The numbers that it shows, a row for each point; None for a picture alone.
        chart: How a browser draws the numbers; None where it shows the picture instead.
    """

    figure: "matplotlib.figure.Figure"
    numbers: "DataFrame | None" = None
    chart: "Chart | Grid | Sentences | None" = None


@dataclass(frozen=True, kw_only=True)
class Figure(Kind):
    """A kind of figure or table. A subclass has a name, declares its options as fields, and draws itself.

    The caption, which every figure of an experiment has, belongs to the report and is no option.

    draws_results: whether it draws results of runs, which need one value for every axis that it does not spread.
    every_axis: whether it spreads all axes, those that no option names as well.
    """

    draws_results: ClassVar[bool] = True
    every_axis: ClassVar[bool] = False

    @classmethod
    def title(cls) -> str:
        """What sentences call the kind."""
        return f"figure {cls.name}"

    @property
    def inputs(self) -> frozenset[str]:
        """What the figure needs besides table and curves: ``partitions``, ``availability``, ``theorems``, ``memory``,
        ``dissimilarities``, ``simulated_seconds``.

        It may depend on the options.
        """
        return frozenset()

    def spreads(self) -> set[str]:
        """Axes of which the figure shows several values: those that its options name."""
        return {
            axis
            for name, one in self.options().items()
            if one.names == "axis" and (axis := getattr(self, name)) is not None
        }

    def measures(self) -> set[str]:
        """Axes whose values must be numbers, as the options are."""
        return set()

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        """Raise UserError if the figure asks what is not known of its runs, such as the bound of a theorem.

        Called before any job. runs: (id of the algorithm, Run) for each of its algorithms and each point of the axes
        that it keeps.
        """

    @abstractmethod
    def draw(self, data: "FigureData") -> Drawing:
        """Draw the figure. Raises UserError if its options do not fit the results."""


@dataclass(frozen=True, kw_only=True)
class FilteredFigure(Figure):
    """A figure of some points of the axes."""

    where: dict[str, Any] = option(
        dict, doc="values to keep, by axis: one, a list of them, or max or min", names="where"
    )


@dataclass(frozen=True, kw_only=True)
class AlgorithmFigure(FilteredFigure):
    """A figure of some algorithms."""

    algorithms: list[str] | None = option(None, doc="algorithms to draw; by default all", names="algorithms")


@dataclass(frozen=True, kw_only=True)
class PanelFigure(AlgorithmFigure):
    """A figure with panels."""

    panel: str | None = option(None, doc="axis with a panel for each value", names="axis")
