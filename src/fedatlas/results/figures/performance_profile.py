"""Performance profiles (Dolan & Moré 2002)."""

from dataclasses import dataclass

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.comparing.profiles import compute_profile, performance_ratios
from fedatlas.results.comparing.ranks import rank_algorithms
from fedatlas.results.figures import Drawing, FigureData, PanelFigure
from fedatlas.results.figures.description import Lines, describe_lines
from fedatlas.results.figures.loss_to_best import ComparisonFigure, problem_frame

POINTS = 241  # abscissas of a profile
WITHIN = 16.0  # largest ratio to the best cost that is drawn


@dataclass(frozen=True, kw_only=True)
class PerformanceProfile(ComparisonFigure, PanelFigure):
    """The share of problems that each algorithm solves at a cost of at most r times the best one's, against r.

    A problem is a point of the axes. Each of its targets and seeds is an instance of it; algorithms meet on the same
    seed, and all problems have the same weight (Dolan & Moré 2002; Hansen et al. 2021). A run that never attains a
    target does not solve it at any r. The best cost is that of the algorithms that are drawn. Bands resample the seeds
    of each problem, which with ``instance: seed`` are its instances.
    """

    name = "performance_profile"

    shares: list[float] = option(
        lambda: [0.1, 0.01, 0.001],
        doc="targets: shares of the difference between the metric's first and best value; all count alike",
        filled=True,
        distinct=True,
        above=0,
        below=1,
    )
    named: int = option(
        8, doc="how many algorithms have a colour and a band: the best of all panels; others are grey lines", low=1
    )

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        benchmark = self.benchmark(data, self.shares)
        values, x = performance_ratios(benchmark.numbers), np.geomspace(1.0, WITHIN, POINTS)
        x[-1] = WITHIN
        lines = []
        for title, part in data.panels(problem_frame(data, benchmark)):
            profiles = zip(data.styles, *compute_profile(values[:, list(part.index)], x), strict=True)
            lines += [
                (title, id, pd.DataFrame({"x": x, "share": share, "low": low, "high": high, "problems": len(part)}))
                for id, share, low, high in profiles
            ]
        order = rank_algorithms(benchmark)
        best = [benchmark.algorithms[a] for a in order[: self.named]]
        styles = {benchmark.algorithms[a]: data.styles[benchmark.algorithms[a]] for a in order}
        description = Lines(
            x={"x": f"{self.words.removesuffix(' (s)')}, as a multiple of the best"},
            y=("share", "share of problems solved"),
            lines=describe_lines(styles, data.names, set(styles) - set(best)),
            range=("low", "high"),
            logx=True,
            limits=(0.0, 1.0),
            steps=True,
            note=labels.join_sentences(
                f"{labels.count_noun(len(benchmark.problems), 'problem')}, {data.counted_seeds}.",
                self.target_note(data, self.shares),
                "Ranges: 95 % by resampling the seeds of each problem.",
                "" if benchmark.defined.all() else "What an algorithm is not defined for, it does not solve.",
            ),
        )
        return Drawing(data.tidy(lines), description)
