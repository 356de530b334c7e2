"""Data of a figure: the experiment's results, the style of its algorithms, and the rows that its options keep."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.experiment_view import ExperimentView, select_rows, sorted_values
from fedatlas.federation.metrics import metric
from fedatlas.results.figures import Figure
from fedatlas.results.figures.style import Line, styles

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_BANDS = 3  # bands over one another that are still told apart; of more lines ranges are bars


@dataclass(frozen=True)
class FigureData:
    """The data that a figure is drawn from.

    Of the options that only some kinds have, ``algorithms``, ``where``, ``panel``, ``y`` and ``yscale`` are respected
    where they are declared.

    Attributes:
        figure: The figure with its options.
        view: ExperimentView of the experiment.
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
        """The scale of the y-axis is logarithmic: by default that of the metric."""
        return (self._option("yscale") or metric(self.y).scale) == "log"

    @functools.cached_property
    def _seed_counts(self) -> list[int]:
        """Numbers of seeds of the runs that are drawn, ascending; undecided comparisons alone may have more."""
        runs = self.rows(self.curves).groupby(["algorithm", *self.view.axes], dropna=False)["seed"]
        return sorted(set(runs.nunique()))

    @property
    def seeds(self) -> int:
        """Number of seeds, of the algorithm with the most."""
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
        """Return (title, rows) of all panels: numbers in order, other values in that of the frame."""
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
        values = list(map(parse, cells))
        if len(values) < 2 or not all(isinstance(value, dict) for value in values):
            return [self.point(axis, cell) for cell in cells]
        return labels.distinguish(values)

    def note(self, lines: bool = True) -> str:
        """Return the sentence for the foot on means and ranges over seeds; points have bars in place of bands."""
        mean = "Lines" if lines else "Points"
        spread = "bands" if lines and len(self.styles) <= MAX_BANDS else "bars"
        return f"{mean}: mean over {self.counted_seeds}; {spread}: smallest to largest." if self.seeds > 1 else ""
