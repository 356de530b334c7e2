"""The results of an experiment, selected by algorithm and setting, for checks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.scores import goal, score_frame, worst_score
from fedatlas.experiments.view import ExperimentView, select_rows
from fedatlas.results.claims.verdicts import NotTested
from fedatlas.results.comparing.intervals import match_seeds

if TYPE_CHECKING:
    import pandas as pd

Point = tuple[Any, ...]  # of the axes
Numbers = Mapping[int, float]  # by seed
GUESSING = 0.02  # share of the way from guessing to perfection, within which an algorithm has learnt nothing


@dataclass(frozen=True)
class Results:
    """The results of an experiment.

    view: View of the experiment. table: a row for each algorithm, point of the axes and tuned values, with means over
    seeds. curves: all evaluations of the rows that were chosen. trials: the score of each run by which tuned values are
    compared. classes: number of classes by data set.
    """

    view: ExperimentView
    table: "pd.DataFrame"
    curves: "pd.DataFrame"
    trials: "pd.DataFrame"
    classes: Mapping[str, int] = field(default_factory=dict)

    def at_analysis(self, count: int) -> "Results":
        """Return the results that there were at an interim analysis, without the runs of seeds that were added later.

        The table still has means over all seeds.

        Args:
            count: Number of seeds at the interim analysis.
        """
        drawn = [id for id, algorithm in self.view.algorithms.items() if not algorithm.deterministic]
        later = range(count, max(self.view.analyses))
        curves, trials = (
            frame[~(frame["seed"].isin(later) & frame["algorithm"].isin(drawn))] for frame in (self.curves, self.trials)
        )
        return replace(self, curves=curves, trials=trials)

    def name(self, algorithm: str) -> str:
        """Return the name of an algorithm for people."""
        return self.view.algorithms[algorithm].name

    def rows(self, algorithm: str, where: Mapping[str, Any], frame: "pd.DataFrame | None" = None) -> "pd.DataFrame":
        """Return the rows of an algorithm in the settings of ``where``.

        Args:
            algorithm: The algorithm's id.
            where: Values of axes, one or a list by axis.
            frame: The table, the curves or the trials; by default the chosen rows of the table.

        Raises:
            NotTested: If there are no such rows.
        """
        rows = select_rows(self.table[self.table["chosen"]] if frame is None else frame, where)
        rows = rows[rows["algorithm"] == algorithm]
        if rows.empty:
            point = ", ".join(f"{labels.short_axis(axis)} = {labels.text(value)}" for axis, value in where.items())
            raise NotTested(f"No results of {self.name(algorithm)}" + (f" at {point}" if point else ""))
        return rows

    def settings(self, rows: "pd.DataFrame") -> "Iterator[tuple[Point, pd.DataFrame]]":
        """Yield the points of the axes, in their order, each with its rows, of any frame of the results."""
        yield from rows.groupby(self.view.axes, sort=False) if self.view.axes else [((), rows)]

    def samples(
        self,
        algorithm: str,
        where: Mapping[str, Any],
        metric: str | None = None,
        statistic: str | None = None,
    ) -> dict[Point, dict[int, float]]:
        """Return the scores of an algorithm's runs, or values of another metric, by point of the axes and seed.

        A run that diverged has the worst value, inf or -inf. Raises as `rows` does.
        """
        select = self.view.select
        metric, statistic = metric or select.metric, statistic or select.statistic
        rows, good = self.rows(algorithm, where, self.curves), self.goal(metric)
        samples: dict[Point, dict[int, float]] = {}
        for point, part in self.settings(rows):
            status = part.groupby("seed")["status"].last()
            scores = score_frame(part[part["round"] > 0], ["seed"], metric, statistic, good, select.last)
            scores = scores.reindex(status.index)
            samples[point] = dict(scores.mask((status == "diverged") | scores.isna(), worst_score(good)).items())
        return samples

    def is_deterministic(self, *algorithms: str) -> bool:
        """Return whether the runs of all these algorithms are the same for all seeds, so that one seed is enough."""
        return all(self.view.algorithms[id].deterministic for id in algorithms)

    def pairs(self, first: str, ours: Numbers, second: str, theirs: Numbers) -> list[tuple[float, float]]:
        """Return pairs of numbers of the same seed.

        Args:
            first: An algorithm's id.
            ours: Its numbers by seed.
            second: The id of the algorithm that it is compared with.
            theirs: The numbers of that algorithm by seed. Where one of the two is deterministic, its number is paired
                with every number of the other.
        """
        constant = [self.is_deterministic(id) and len(numbers) > 0 for id, numbers in ((first, ours), (second, theirs))]
        if constant == [True, False]:
            ours = dict.fromkeys(theirs, next(iter(ours.values())))
        elif constant == [False, True]:
            theirs = dict.fromkeys(ours, next(iter(theirs.values())))
        return match_seeds(ours, theirs)

    def failures(self, algorithm: str, where: Mapping[str, Any], metric: str | None) -> dict[Point, str]:
        """Return where an algorithm failed with values that nobody tuned, as sentences by point of the axes.

        It failed where a run diverged, or where its last loss or accuracy is no better than that of guessing. The level
        of guessing follows from the number of classes.

        Args:
            algorithm: The algorithm's id.
            where: Values of axes, one or a list by axis.
            metric: The metric; by default the one that selects.

        Returns:
            Nothing for an algorithm whose hyper-parameters are all tuned, its defaults or theory's.
        """
        untuned = self.view.algorithms[algorithm].untuned
        if not untuned:
            return {}
        sentences = {}
        for point, part in self.settings(self.rows(algorithm, where, self.curves)):
            last = part[part["round"] == part["round"].max()]
            name = metric or self.view.select.metric
            if (part["status"] == "diverged").any():
                verb = "diverges"
            elif name in last and any(self._is_chance(name, value, point) for value in last[name]):
                verb = "is no better than guessing"
            else:
                continue
            options = " and ".join(f"`{name}`" for name in untuned)
            sentences[point] = (
                f"{self.name(algorithm)} {verb}{self.location(point)} with values of {options} that are not tuned, "
                "which says nothing of the algorithm."
            )
        return sentences

    def _is_chance(self, name: str, value: float, point: Point) -> bool:
        """Return whether a loss or an accuracy is less than GUESSING of the way from guessing to perfection."""
        data = dict(zip(self.view.axes, point, strict=True)).get("problem.data", self.view.problem.get("data"))
        classes = self.classes.get(str(data), 0)
        if classes < 2:
            return False
        if name.endswith("accuracy"):
            return value - 1 / classes <= GUESSING * (1 - 1 / classes)
        return name.endswith("loss") and math.log(classes) - value <= GUESSING * math.log(classes)

    def mean_squares(self, rows: "pd.DataFrame", metric: str | None, after: int) -> "pd.Series":
        """Return the mean of a squared metric over the rounds from ``after`` on, by seed.

        They are all rounds from the first evaluation at ``after`` or later, where the runs have the metric's
        ``NAME_rounds_mean_square``, and otherwise the evaluated ones.

        Args:
            rows: Rows of the curves, of one algorithm in one setting.
            metric: The metric; by default the one that selects.
            after: First round of the mean.

        Returns:
            A Series by seed; inf where a run diverged.

        Raises:
            NotTested: If there are no such evaluations.
            UserError: If the evaluated rounds alone do not have the mean.
        """
        column = metric or self.view.select.metric
        late = rows[rows["round"] >= after].sort_values("round")
        if late.empty:
            raise NotTested(f"No evaluations from round {after} on")
        over_rounds = f"{column}_rounds_mean_square"
        if over_rounds in rows:
            first, last = (late.drop_duplicates("seed", keep=end).set_index("seed") for end in ("first", "last"))
            before = first[over_rounds] * (first["round"] + 1) - first[column] ** 2
            means = (last[over_rounds] * (last["round"] + 1) - before) / (last["round"] - first["round"] + 1)
        else:
            rounds = rows.loc[rows["status"] != "diverged", "round"].drop_duplicates().sort_values()
            if rounds.diff().iloc[1:-1].nunique() > 1:  # the last round may be nearer
                raise UserError(
                    f"the mean square of {column} is over rounds that are not equally far apart: add {over_rounds} to "
                    "metrics of the setting"
                )
            means = (late[column] ** 2).groupby(late["seed"]).mean()
        diverged = rows.loc[rows["status"] == "diverged", "seed"].unique()
        means = means.reindex(sorted(rows["seed"].unique()))
        return means.mask(means.index.isin(diverged) | means.isna(), math.inf)

    def goal(self, metric: str | None = None) -> Literal["min", "max"]:
        """Return whether small or large values of a metric are good; by default of the one that selects."""
        return goal(metric or self.view.select.metric, self.view.select)

    def location(self, point: Point, axes: Sequence[str] | None = None) -> str:
        """Return a point of the axes, by default of all, as the end of a text: `` at K = 16``, or nothing without."""
        axes = self.view.axes if axes is None else axes
        label = ", ".join(labels.point(axis, value) for axis, value in zip(axes, point, strict=False))
        return f" at {label}" if label else ""
