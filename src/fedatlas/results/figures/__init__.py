"""Kinds of figure. A module here that defines a named `Figure` is found by itself: to add a kind is to add a file.

A figure draws the numbers of its data, `FigureData`, and returns them with a description, as a `Drawing`. The base
classes here have the options that several kinds share.
"""

import functools
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.values import parse_cell
from fedatlas.experiments.view import ExperimentView, select_rows, sorted_values
from fedatlas.federation.metrics import metric
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import option
from fedatlas.results.figures.description import Description, Line, styles

if TYPE_CHECKING:
    import matplotlib.figure
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run

Scale = Literal["log", "linear"]
MAX_BANDS = 3  # bands over one another that are still told apart; of more lines ranges are bars


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
        """Return the axes whose values must be numbers, given the options."""
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


@dataclass(frozen=True)
class FigureData:
    """The data that a figure is drawn from: the experiment's results, the styles of its algorithms, and the kept rows.

    Of the options that only some kinds have, ``algorithms``, ``where``, ``panel``, ``y`` and ``yscale`` are respected
    where they are declared.

    Attributes:
        figure: The figure with its options.
        view: View of the experiment.
        table: Table of `fedatlas.experiments.tables`.
        curves: Curves of `fedatlas.experiments.tables`.
        partitions: (title, counts of labels (clients, classes)) of each partition; their index names the clients.
        availability: (title, active clients (rounds, clients)) of each participation; the columns name the clients.
    """

    figure: Figure
    view: ExperimentView
    table: "DataFrame"
    curves: "DataFrame"
    partitions: "list[tuple[str, DataFrame]] | None" = None
    availability: "list[tuple[str, DataFrame]] | None" = None

    @functools.cached_property
    def styles(self) -> dict[str, Line]:
        """Styles of the algorithms that are drawn, by id, in the figure's order or else in the experiment's.

        Unless the figure names its algorithms, those that have no run in what it keeps are left out.
        """
        entries, ids = self.view.algorithms, self._option("algorithms")
        if not ids:
            present = set(select_rows(self.curves, self._option("where"))["algorithm"])
            ids = [id for id in entries if id in present]
        all_styles = styles(
            {id: entry.algorithm for id, entry in entries.items()},
            [id for id, entry in entries.items() if entry.emphasis],
        )
        return {id: all_styles[id] for id in ids}

    @functools.cached_property
    def names(self) -> dict[str, str]:
        """Names of the algorithms that are drawn, by id."""
        return {id: self.view.algorithms[id].name for id in self.styles}

    def _option(self, name: str) -> Any:
        return getattr(self.figure, name, None)

    def error(self, text: str) -> UserError:
        """Return the error about options that do not fit the results."""
        return UserError(f"{self.figure.title()}: {text}")

    @property
    def y(self) -> str:
        """The metric of the figure: by default the one that selects."""
        return self._option("y") or self.view.select.metric

    @property
    def log(self) -> bool:
        """Whether the y-axis is logarithmic, by default as the scale of the metric is."""
        return (self._option("yscale") or metric(self.y).scale) == "log"

    @functools.cached_property
    def _seed_counts(self) -> list[int]:
        """Numbers of seeds of the runs that are drawn, ascending; undecided comparisons alone may have more."""
        runs = self.rows(self.curves).groupby(["algorithm", *self.view.axes], dropna=False)["seed"]
        return sorted(set(runs.nunique()))

    @property
    def seeds(self) -> int:
        """Number of seeds of the algorithm that has the most."""
        return self._seed_counts[-1]

    @property
    def counted_seeds(self) -> str:
        """Number of seeds in words, and its range where algorithms differ: ``5 seeds`` or ``2 to 5 seeds``."""
        fewest, most = self._seed_counts[0], self._seed_counts[-1]
        return labels.count_noun(most, "seed") if fewest == most else f"{fewest} to {most} seeds"

    def rows(self, frame: "DataFrame") -> "DataFrame":
        """Return the rows of the table or of curves that the figure draws.

        Raises:
            UserError: There are none.
        """
        where = self._option("where") or {}
        frame = select_rows(frame[frame["algorithm"].isin(list(self.styles))], where)
        if frame.empty:
            raise self.error("no rows are left to draw; see its where and algorithms")
        return frame

    def panels(self, frame: "DataFrame") -> "list[tuple[str, DataFrame]]":
        """Return (title, rows) of all panels: numbers ascending, other values in the order of the frame."""
        axis = self._option("panel")
        if axis is None:
            return [("", frame)]
        return [(self.point(axis, value), frame[frame[axis] == value]) for value in sorted_values(frame[axis])]

    def tidy(self, parts: "Iterable[tuple[str, str, DataFrame]]") -> "DataFrame":
        """Return the numbers of a figure's lines, a row for each point.

        The columns ``panel``, where panels have titles, and ``algorithm`` come first.

        Args:
            parts: (title of the panel, id of the algorithm, rows) of each line.
        """
        import pandas as pd

        frames = [rows.assign(panel=title, algorithm=id) for title, id, rows in parts]
        numbers = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"panel": [], "algorithm": []})
        first = ["panel", "algorithm"] if numbers["panel"].astype(bool).any() else ["algorithm"]
        return numbers[[*first, *numbers.columns.difference(["panel", "algorithm"], sort=False)]]

    def point(self, axis: str, cell: Any) -> str:
        """Return the text of an axis at the value of a cell, ``K = 16``; a case has its name for people."""
        names = self.view.cases if axis == CASE else {}
        return names.get(cell) or labels.point(axis, cell)

    def titles(self, axis: str, cells: Sequence[Any]) -> list[str]:
        """Return the cells of an axis in words, without the options that all of the specifications share."""
        values = list(map(parse_cell, cells))
        if len(values) < 2 or not all(isinstance(value, dict) for value in values):
            return [self.point(axis, cell) for cell in cells]
        shared = {name for name, value in values[0].items() if all(other.get(name) == value for other in values)}
        return [labels.text({name: value[name] for name in value if name not in shared}) for value in values]

    def note(self, lines: bool = True) -> str:
        """Return the sentence for the foot on means and ranges over seeds; points have bars in place of bands."""
        mean = "Lines" if lines else "Points"
        spread = "bands" if lines and len(self.styles) <= MAX_BANDS else "bars"
        return f"{mean}: mean over {self.counted_seeds}; {spread}: smallest to largest." if self.seeds > 1 else ""


class Drawing(NamedTuple):
    """The numbers of a figure, a row for each point, and how renderers draw them."""

    numbers: "DataFrame"
    description: Description


FIGURES: Family[Figure] = Family("figure", __name__, Figure)
