"""Kinds of figure. A module here that defines a named `Figure` is found by itself: to add a kind is to add a file."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import option

if TYPE_CHECKING:
    import matplotlib.figure
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run
    from fedatlas.results.figures.description import Description
    from fedatlas.results.figures.figure_data import FigureData


Scale = Literal["log", "linear"]


class Drawing(NamedTuple):
    """The numbers of a figure, a row for each point, and how renderers draw them."""

    numbers: "DataFrame"
    description: "Description"


@dataclass(frozen=True, kw_only=True)
class Figure(Kind):
    """A kind of figure or table. A subclass has a name, declares its options as fields, and describes what is drawn.

    The caption, which all figures of an experiment have, belongs to the report and is not an option.

    Attributes:
        draws_results: Whether it draws results of runs, which need one value for every axis that it does not spread.
        every_axis: Whether it spreads all axes, also those that no option names.
        is_table: Whether it is a table, which has no picture.
    """

    draws_results: ClassVar[bool] = True
    every_axis: ClassVar[bool] = False
    is_table: ClassVar[bool] = False

    @classmethod
    def title(cls) -> str:
        """Return the name of the kind in sentences."""
        return f"figure {cls.name}"

    @property
    def inputs(self) -> frozenset[str]:
        """Inputs besides table and curves; they may depend on the options.

        Names are ``partitions``, ``availability`` and ``simulated_seconds``.
        """
        return frozenset()

    def spreads(self) -> set[str]:
        """Return the axes of which the figure shows several values: those that its options name."""
        axes = {
            getattr(self, name) for name, option in self.options().items() if option.names in ("axis", "axis or tuned")
        }
        return axes - {None}

    def measures(self) -> set[str]:
        """Return the axes whose values must be numbers, as the options are."""
        return set()

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        """Check, before any job, that the figure's theory covers its runs.

        Args:
            runs: (id of the algorithm, Run) for each of its algorithms and each point of the axes that it keeps.

        Raises:
            UserError: The figure needs a quantity that is unknown for a run, such as the bound of a theorem.
        """

    @abstractmethod
    def draw(self, data: "FigureData") -> "Drawing | matplotlib.figure.Figure":
        """Return the numbers of the figure with their description, or a picture as a matplotlib figure.

        Raises:
            UserError: The options do not fit the results.
        """


@dataclass(frozen=True, kw_only=True)
class FilteredFigure(Figure):
    """A figure of some points of the axes."""

    where: dict[str, Any] = option(
        dict, doc="values to keep, by axis: one, a list of them, or max or min", names="where"
    )


@dataclass(frozen=True, kw_only=True)
class AlgorithmFigure(FilteredFigure):
    """A figure of some algorithms."""

    algorithms: list[str] | None = option(
        None, doc="algorithms to draw, in this order; by default all", names="algorithms"
    )


@dataclass(frozen=True, kw_only=True)
class PanelFigure(AlgorithmFigure):
    """A figure with panels."""

    panel: str | None = option(None, doc="axis with a panel for each value", names="axis")


__all__ = ["FIGURES", "Figure"]

FIGURES: Family[Figure] = Family("figure", __name__, Figure)
