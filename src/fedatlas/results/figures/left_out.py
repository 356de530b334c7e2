"""Dependence of the order of algorithms on single problems, seeds and tuning studies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments.cells import CASE
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.profiles import profile_areas
from fedatlas.results.comparing.ranking import kendall
from fedatlas.results.comparing.targets import target_costs
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.comparison_figure import OrderFigure, problem_titles
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import BLACK, REFERENCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW, WIDTH = 0.2, 6.5  # inches of a row and of the figure

Change = tuple[str, str, np.ndarray]  # what kind of part is left out, which one, and the scores without it


@dataclass(frozen=True, kw_only=True)
class LeftOut(OrderFigure):
    """Kendall's correlation of the order of algorithms with the order without one problem, or one seed, or one study.

    Algorithms are ordered by the area under the performance profile on its log2 axis, up to ``within``. Without a study
    of a problem that is tuned again, its next study takes the place of the first. Beside each correlation stands the
    algorithm that moves most.
    """

    name = "left_out"

    def draw_order(self, data: FigureData) -> Drawing:
        import pandas as pd

        base = self.benchmark(data, self.shares)
        scores = self._scores(base.numbers)
        rows = []
        for kind, part, other in self._changes(data, base):
            moves = _ranks(other) - _ranks(scores)
            most = int(np.abs(moves).argmax())
            row = {"left_out": kind, "part": part, "tau": float(kendall(scores, other))}
            rows.append({**row, "moves_most": base.algorithms[most], "places": float(-moves[most])})
        frame = pd.DataFrame(rows)
        figure = _draw(frame, data)
        notes = [
            f"Kendall's τ of the order by {self.cost_name} with the order without one part; to the right, who moves "
            "most, and by how many ranks (+: up).",
            self.target_note(data, self.shares),
        ]
        layout.add_notes(figure, layout.wrap_notes(WIDTH, *notes))
        return Drawing(figure, frame)

    def _scores(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(profile_areas(numbers, self.within).mean(axis=(1, 2)))

    def _changes(self, data: FigureData, base: Benchmark) -> Iterator[Change]:
        """Yield the scores without each problem, each seed and each first study."""
        titles = problem_titles(data, base)
        for at, title in enumerate(titles if len(titles) > 1 else []):
            yield "problem", title, self._scores(np.delete(base.numbers, at, axis=1))
        slots = base.numbers.shape[3]
        for at in range(slots if slots > 1 else 0):
            yield "seed", f"seed {at + 1}", self._scores(np.delete(base.numbers, at, axis=3))
        first = {case: again for again, case in reversed(data.view.studies.items())}
        drawn = {point[0] for point in base.problems} if data.view.axes == [CASE] else set()
        for case, again in first.items():
            if case in drawn:
                rows = data.curves[data.curves[CASE] != case]
                rows = rows.assign(**{CASE: rows[CASE].replace({again: case})})
                runs = rows[rows[CASE].isin(sorted(drawn))]
                spec = self.target_spec(data, self.shares)
                other = target_costs(runs, list(data.view.algorithms), data.view.axes, spec)
                yield (
                    "study",
                    f"first study of {data.view.cases[case]}",
                    self._scores(other.select_algorithms(base.algorithms).numbers),
                )


def _ranks(scores: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores))


def _draw(frame: "object", data: FigureData) -> "Figure":
    """Return a figure with a row for each part, those of a kind together, the least correlation first."""
    import pandas as pd

    assert isinstance(frame, pd.DataFrame)
    rows = frame.sort_values(["left_out", "tau"], kind="stable").to_dict("records")
    figure = layout.empty_figure((WIDTH, ROW * len(rows) + 1.0))
    ax = figure.subplots()
    for y, row in enumerate(rows):
        ax.plot(row["tau"], y, color=BLACK, marker="o", markersize=4)
        text = f"{data.names[row['moves_most']]} {row['places']:+g}".replace("-", "−")
        ax.text(1.02, y, text, va="center", fontsize=7, transform=ax.get_yaxis_transform())
    ax.axvline(1.0, color=REFERENCE, linewidth=1)
    ax.set_yticks(range(len(rows)), [row["part"] for row in rows], fontsize=7)
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlabel="Kendall's τ with the whole order")
    ax.grid(False, axis="y")
    layout.exclude_texts(ax)
    return figure
