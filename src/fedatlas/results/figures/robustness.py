"""Dependence of the order of algorithms on the budget, the targets, the seeds, and the tuning seeds."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.selection import select_rows
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.ranking import Agreement, Order, compare_orders, split_seeds
from fedatlas.results.comparing.targets import target_costs
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.comparison_figure import OrderFigure
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from pandas import DataFrame

ROW, COLUMN = 0.23, 1.45  # inches of a rank and of a variant
CHARACTER = 0.075  # inches of a character of a name

Variant = tuple[str, Order, Agreement | None]  # words, order, and how it agrees with the one it is compared with


@dataclass(frozen=True, kw_only=True)
class Robustness(OrderFigure):
    """Ranks of algorithms with another budget, other targets, and each half of the seeds; and Kendall's correlation.

    Algorithms are ordered by the area under the performance profile on its log2 axis, up to ``within``, over all
    problems, targets and seeds. With a share of the budget runs are cut after that share of a problem's rounds; their
    hyper-parameters are those of the whole. Intervals of Kendall's tau-b are percentiles over resampled problems and
    seeds; they reach to the estimate. A pair is reversed where each order has it apart beyond its own interval, on
    different sides.

    With ``studies`` the variants are tuning studies: the first, and those of the cases that tune its problems again.
    The trials and the scoring seeds of all studies are the same, and targets are common, so orders differ by what was
    chosen alone.
    """

    name = "robustness"

    budgets: list[float] = option(
        lambda: [0.5, 0.25], doc="shares of the rounds after which runs are cut, each a variant", distinct=True
    )
    harder: list[float] = option(
        lambda: [10.0, 0.1],
        doc="factors by which shares are divided, each a variant; below 1 targets are easier",
        distinct=True,
    )
    seeds: bool = option(True, doc="whether the two halves of the seeds are compared")
    studies: bool = option(
        False,
        doc="whether tuning studies are compared, in place of all else: problems are the cases that are tuned again",
    )
    resamples: int = option(1000, doc="how often problems and seeds are resampled for the intervals", low=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("shares", "budgets"):
            if not all(0 < share < 1 for share in getattr(self, name)):
                raise UserError(f"{self.title()}: {name} is {getattr(self, name)}; each must lie between 0 and 1")
        if not all(factor > 0 for factor in self.harder):
            raise UserError(f"{self.title()}: harder is {self.harder}; each factor must be positive")
        for factor in () if self.studies else self.harder:
            if max(self.shares) / factor >= 1:
                raise UserError(
                    f"{self.title()}: harder has {factor}, with which the target {max(self.shares)} would be "
                    f"{max(self.shares) / factor:g}, where runs start; leave out one of them"
                )

    def draw_order(self, data: FigureData) -> Drawing:
        variants = list(self._variants(data))
        left = 0.35 + CHARACTER * max(len(name) for name in data.names.values())
        width = 2 * left + COLUMN * (len(variants) - 1)
        note = layout.wrap_notes(width, *self._notes(data))
        height = ROW * len(data.styles) + 0.16 * len(note.splitlines()) + 1.5
        figure = layout.empty_figure((width, height))
        ax = figure.subplots()
        ax.set_axis_off()
        ax.set(xlim=(-left / COLUMN, len(variants) - 1 + left / COLUMN), ylim=(len(data.styles) + 3.4, -1.6))
        _draw_ranks(ax, data, [order.ranks for _, order, _ in variants])
        for column, (words, _, agreement) in enumerate(variants):
            ax.text(column, -0.2, words, ha="center", va="bottom", fontsize=9, fontweight="bold")
            if agreement is not None:
                text = f"{_tau(agreement)}\n{agreement.reversed} of {agreement.pairs}\npairs reversed"
                ax.text(column, len(data.styles) + 0.75, text, ha="center", va="top", fontsize=8, linespacing=1.3)
        layout.exclude_texts(ax)
        layout.add_notes(figure, note)
        return Drawing(figure, _numbers(data, variants))

    def _variants(self, data: FigureData) -> Iterator[Variant]:
        if self.studies:
            original, *others = self._studies(data)
            yield "first study", self._compare(original, original)[0], None
            for number, other in enumerate(others, start=2):
                _, order, agreement = self._compare(original, other)
                yield f"study {number}", order, agreement
            return
        base = self.benchmark(data, self.shares)
        order, _, _ = self._compare(base, base)
        yield "as scored", order, None
        for budget in self.budgets:
            _, order, agreement = self._compare(base, self.benchmark(data, self.shares, budget))
            share = {0.5: "half", 0.25: "a quarter"}.get(budget, f"{labels.number(100 * budget)} %")
            yield f"{share} of the\nrounds", order, agreement
        for factor in self.harder:
            shares = [share / factor for share in self.shares]
            _, order, agreement = self._compare(base, self.benchmark(data, shares))
            words = f"{labels.number(max(factor, 1 / factor))} times\n{'harder' if factor > 1 else 'easier'} targets"
            yield words, order, agreement
        if self.seeds and base.seeds.shape[1] > 1:
            first, second, agreement = self._compare(*split_seeds(base))
            yield "one half\nof the seeds", first, None
            yield "the other half\nof the seeds", second, agreement

    def _studies(self, data: FigureData) -> list[Benchmark]:
        """Return the benchmark of each study, with targets that all studies set.

        Raises:
            UserError: No case is tuned again.
        """
        spec = self.target_spec(data, self.shares)
        data.require(data.curves, spec.column, data.y)
        available = set(data.rows(data.curves)[CASE]) if data.view.cases else set()
        numbers = {case: [case] for case in data.view.cases if case in available & set(data.view.studies.values())}
        for case, retuned in data.view.studies.items():
            if retuned in numbers:
                numbers[retuned].append(case)
        if not numbers:
            raise data.error("it compares tuning studies, and none of its cases is tuned again")
        count = min(map(len, numbers.values()))
        study = {case: str(number) for cases in numbers.values() for number, case in enumerate(cases[:count])}
        original = {case: first for first, cases in numbers.items() for case in cases}
        other_axes = {axis: value for axis, value in self.where.items() if axis != CASE}
        rows = select_rows(data.curves[data.curves[CASE].isin(list(study))], other_axes)
        together = rows.assign(
            algorithm=rows["algorithm"].astype(str) + " " + rows[CASE].map(study).astype(str),
            case=rows[CASE].map(original),
        )
        ids = [[f"{id} {number}" for id in data.view.algorithms] for number in range(count)]
        benchmark = target_costs(together, [id for group in ids for id in group], data.view.axes, spec)
        return [benchmark.select_algorithms([f"{id} {number}" for id in data.styles]) for number in range(count)]

    def _compare(self, first: Benchmark, second: Benchmark) -> tuple[Order, Order, Agreement]:
        return compare_orders(first, second, self.within, self.resamples)

    def _notes(self, data: FigureData) -> list[str]:
        compared = "the first study" if self.studies else "the order as scored (of the halves, with each other)"
        return [
            f"Ranks by the area under the performance profile of {self.cost_name}, up to "
            f"{labels.number(self.within)} times the best.",
            self.target_note(data, self.shares),
            "Studies have the same trials and scoring seeds, and other tuning seeds." if self.studies else "",
            f"τ: Kendall's rank correlation with {compared}, with 95 % "
            "intervals by resampling problems and seeds. Reversed: apart beyond noise, on different sides.",
        ]


def _tau(agreement: Agreement) -> str:
    low, high = agreement.tau.interval()
    if math.isnan(agreement.tau.value):
        return "τ undefined"
    ends = "" if low == high else f" ({labels.number(max(low, -1), 2)} to {labels.number(min(high, 1), 2)})"
    return f"τ = {labels.number(agreement.tau.value, 2)}{ends}".replace("-", "−")


def _draw_ranks(ax: "Axes", data: FigureData, ranks: "list[np.ndarray]") -> None:
    """Draw a line through the ranks of each algorithm, with its name at both ends; ranks: of each variant."""
    columns, names = list(range(len(ranks))), list(data.names.values())
    for a, style in enumerate(data.styles.values()):
        heights = [variant[a] for variant in ranks]
        ax.plot(columns, heights, color=style.colour, linestyle=style.line, marker=style.marker, linewidth=1.3)
    for column, side, shift in ((0, "right", -0.12), (columns[-1], "left", 0.12)):
        order = ranks[column].argsort(kind="stable").tolist()
        for height, a in enumerate(order, start=1):  # names of equal ranks stand below one another
            ax.text(column + shift, height, names[a], ha=side, va="center", fontsize=8.5)


def _numbers(data: FigureData, variants: "list[Variant]") -> "DataFrame":
    """Return ranks and areas: a row for each variant and algorithm."""
    import pandas as pd

    rows = []
    for words, order, agreement in variants:
        statistics: dict[str, Any] = {}
        if agreement is not None:
            low, high = agreement.tau.interval()
            statistics = {"tau": agreement.tau.value, "low": low, "high": high, "reversed": agreement.reversed}
        for a, id in enumerate(data.styles):
            row = {"variant": words.replace("\n", " "), "algorithm": id}
            rows.append(row | {"rank": order.ranks[a], "area": order.scores[a]} | statistics)
    return pd.DataFrame(rows)
