"""What a figure is drawn from: its options, the results, and how the experiment's algorithms look."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.selection import select_rows, sorted_values
from fedatlas.federation.metrics import metric
from fedatlas.results.figures import style
from fedatlas.results.figures.base import Figure
from fedatlas.results.figures.browser_chart import plain

if TYPE_CHECKING:
    import numpy as np
    from pandas import DataFrame

    from fedatlas.theory.fedred.bound import FedRedConstants

BANDS = 5  # that lie over one another and are still told apart


@dataclass
class FigureData:
    """What a figure is drawn from.

    figure: declared. view: of the experiment. table, curves: of `fedatlas.experiments.tables`; the table has the column
    ``bound`` where theorems are an input of the figure. partitions: (title, counts of labels (clients, classes)) of
    each partition. availability: (title, probabilities or None, who was there), both (rounds, clients), of each
    participation. memory: vectors that a client keeps from round to round, by id of the algorithm. dissimilarities:
    (title, constants of similarity) of each problem.

    Of the options that not every kind has, ``algorithms``, ``where``, ``panel``, ``y`` and ``yscale`` are respected
    where they are declared.
    """

    figure: Figure
    view: ExperimentView
    table: "DataFrame"
    curves: "DataFrame"
    partitions: "list[tuple[str, np.ndarray]] | None" = None
    availability: "list[tuple[str, np.ndarray | None, np.ndarray]] | None" = None
    memory: dict[str, float] | None = None
    dissimilarities: "list[tuple[str, FedRedConstants]] | None" = None

    def __post_init__(self) -> None:
        entries = self.view.algorithms
        every = style.styles({id: shown.algorithm for id, shown in entries.items()})
        drawn = self._option("algorithms") or list(entries)
        for id in drawn:
            if id not in entries:
                raise self.error(f"{id!r} is not an algorithm of the experiment (they are {', '.join(entries)})")
        self.styles = {id: every[id] for id in entries if id in drawn}
        self.names = {id: labels.mathematical(entries[id].name) for id in self.styles}

    def _option(self, name: str) -> Any:
        return getattr(self.figure, name, None)

    def error(self, text: str) -> UserError:
        """The error about options that do not fit the results."""
        return UserError(f"{self.figure.title()}: {text}")

    @property
    def y(self) -> str:
        """The metric drawn: by default the one that selects."""
        return self._option("y") or self.view.select.metric

    @property
    def log(self) -> bool:
        """Whether the y-axis is logarithmic: by default if the metric is shown so."""
        return (self._option("yscale") or metric(self.y).scale) == "log"

    @functools.cached_property
    def _counts(self) -> list[int]:
        """Numbers of seeds of the algorithms that are drawn."""
        curves = self.curves[self.curves["algorithm"].isin(list(self.styles))] if "seed" in self.curves else None
        if curves is None or curves.empty:
            return [len(self.view.seeds)]
        return sorted(set(curves.groupby("algorithm")["seed"].nunique()))

    @property
    def seeds(self) -> int:
        """Number of seeds, of the algorithm with the most."""
        return self._counts[-1]

    @property
    def counted_seeds(self) -> str:
        """Their number in words, and its range where algorithms differ: ``5 seeds`` or ``2 to 5 seeds``."""
        few, many = self._counts[0], self._counts[-1]
        return labels.count_noun(many, "seed") if few == many else f"{few} to {many} seeds"

    def rows(self, frame: "DataFrame") -> "DataFrame":
        """Rows of the table or of curves that the figure draws.

        Raises UserError if there are none, or if an axis has several values that the figure does not spread.
        """
        where = self._option("where") or {}
        self.column(frame, *where, *filter(None, [self._option("panel")]))
        frame = select_rows(frame[frame["algorithm"].isin(list(self.styles))], where)
        if frame.empty:
            raise self.error("no rows are left to draw; see its where and algorithms")
        spread = self.figure.spreads()
        for axis in () if self.figure.every_axis else self.view.axes:
            if axis not in spread and frame[axis].nunique() > 1:
                raise self.error(f"{axis} has several values; choose one in where, or give each a panel")
        return frame

    def column(self, frame: "DataFrame", *names: str) -> None:
        """Raise UserError if a column is missing."""
        for name in names:
            if name not in frame:
                raise self.error(f"there is no {name!r} in the results")

    def panels(self, frame: "DataFrame") -> "list[tuple[str, DataFrame]]":
        """(title, rows) of every panel; numbers in order, other values as they come."""
        axis = self._option("panel")
        if axis is None:
            return [("", frame)]
        values = sorted_values(frame[axis])
        return [(self.point(axis, value), frame[frame[axis] == value]) for value in values]

    def tidy(self, parts: "Iterable[tuple[str, str, DataFrame]]") -> "DataFrame":
        """The numbers of a figure's lines, a row for each point.

        parts: (title of the panel, id of the algorithm, rows) of each line. The columns ``panel``, where there are
        titles, and ``algorithm`` come first.
        """
        import pandas as pd

        found = []
        for title, id, rows in parts:
            rows = rows.drop(columns=["panel", "algorithm"], errors="ignore")
            rows.insert(0, "algorithm", id)
            if title:
                rows.insert(0, "panel", plain(title))
            found.append(rows)
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame()

    def point(self, axis: str, cell: Any) -> str:
        """An axis at the value of a cell, as figures show it: ``$K$ = 16``."""
        return labels.mathematical(self.told(axis, cell))

    def told(self, axis: str, cell: Any) -> str:
        """The same in plain words: ``K = 16``; a case by its name for people."""
        names = self.view.cases if axis == CASE else {}
        return names.get(cell) or labels.point(axis, cell, self.view.setting)

    def place(self, look: style.Style) -> tuple[int, int]:
        """The number of an algorithm's line among how many."""
        looks = list(self.styles.values())
        return looks.index(look), len(looks)

    def note(self, lines: bool = True) -> str:
        """What lines and bands or bars, or points and bars, are, for the foot of the figure."""
        mean, spread = "Lines" if lines else "Points", "bands" if lines and len(self.styles) <= BANDS else "bars"
        return f"{mean}: mean over {self.counted_seeds}; {spread}: smallest to largest." if self.seeds > 1 else ""
