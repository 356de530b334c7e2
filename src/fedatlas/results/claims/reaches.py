"""Quantities that lie between bounds."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.values import parse_cell
from fedatlas.registry.options import option
from fedatlas.results.claims import BoundedCheck, MultiAlgorithmCheck, QuantityCheck
from fedatlas.results.claims.evidence import PLAIN, Bounds, Evidence, Unit, exact_outcome, judge_all, level_unit
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import DIVERGED, sample, student_quantile

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run

ROUNDING = 1e-9  # relative
LEVEL = 0.01  # significance level of deviations from closed forms, of all settings together
WORDS = {
    "vectors": "vectors kept for a client between rounds",
    "growth": "least distance over ε 1.02^(t/3)",
    "distance": "last distance over ε",
}
NEEDS = {"length": "target", "deviation": "limit", "choice": "values", "replay": "runs"}  # the option of a quantity


@dataclass(frozen=True, kw_only=True)
class Reaches(BoundedCheck, QuantityCheck, MultiAlgorithmCheck):
    """Held if the mean over seeds of a quantity, by default of the score or its ratio to another metric's, lies in the
    bounds, for all algorithms, in all settings of ``where`` or in more than a ``share`` of them. What diverged lies in
    none.

    Of a cost or ``length`` the largest number that passes is by default the paper's. Only evaluated rounds count, so of
    rounds it is the first of the setting's that is not smaller.

    ``every`` is the metric, or its ratio, at every evaluation of every run; NAME_rounds_min and NAME_rounds_max are of
    all rounds. What rounding error may explain counts as in the bounds, and evaluations without a value, such as round
    0 of what is recorded of local steps, do not count. ``length`` is the fewest rounds of a setting whose score attains
    the ``target``, where settings differ in the number of their rounds. ``spread`` is the ratio of the largest score to
    the smallest over all values tried, on each tuning seed; what diverged makes it infinite. ``vectors`` are those of
    the model's size that are kept for a client between rounds, wherever they lie. ``growth`` and ``distance`` are of
    two runs without noise from starts that are ε apart, on the function of Lemma F.2 of Yuan & Ma (2020) for a problem
    of kind ``piecewise``: the least distance after every third step over ε 1.02^(t/3), the bound of Theorem 4.2, and
    the distance after the last step over ε.

    ``deviation`` is the distance of the metric's mean from round ``after`` on from the closed form ``limit``, in
    standard errors over the seeds; the largest that passes is by default Student's t at 0.01, with Bonferroni's
    correction for the settings. ``choice`` is held if the best tuned values, over the tuning seeds, are ``values``.
    ``replay`` is the relative difference of the last and the best value of the metric from those of published
    ``runs``. A run in which the metric exceeds its first value multiplies rounding errors, so that two correct programs
    differ; it is not compared.
    """

    name = "reaches"

    quantity: Literal[
        "score", "every", "length", "spread", "vectors", "growth", "distance", "deviation", "choice", "replay"
    ] = option("score", doc="what is measured; a score may be replaced by a cost or a root mean square")
    of: str | None = option(None, doc="the metric that it is divided by", names="metric")
    share: float | None = option(
        None, doc="share of the settings that must be exceeded; by default all settings count", low=0, high=1
    )
    along: Literal["agd", "fedac-1"] = option(
        "agd", doc="algorithm on whose trajectory the function of growth and distance is built"
    )
    limit: str | None = option(None, doc="name of the closed form", names="limit")
    values: dict[str, float] = option(
        dict, doc="the best value of each tuned hyper-parameter that counts", names="tuned"
    )
    runs: dict[str, list[list[float]]] = option(
        dict,
        doc="published runs of each algorithm: values of the axes in their order, final value and best value",
        names="algorithms",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (needed := NEEDS.get(self.quantity)) and getattr(self, needed) in (None, {}):
            raise UserError(f"{self.title()}: the {self.quantity} needs {needed}")
        if self.quantity != "score" and (
            self.cost is not None or (self.after is not None and self.quantity != "deviation")
        ):
            raise UserError(f"{self.title()}: a cost or after stands in place of the score, not of the {self.quantity}")
        if self.limits() == Bounds() and self.quantity not in ("deviation", "choice"):
            raise UserError(f"{self.title()} needs at_least or at_most")
        if self.quantity == "replay" and self.runs.keys() != set(self.algorithms):
            raise UserError(f"{self.title()}: runs must be those of all algorithms, and of no others")

    def limits(self) -> Bounds:
        bounds = super().limits()
        if self.has_target and self.at_most is None and isinstance(self.paper, int | float):
            return replace(bounds, high=float(self.paper))
        return bounds

    @property
    def has_target(self) -> bool:
        return super().has_target or self.quantity == "length"

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | ({"theorems"} if self.quantity in WORDS else set())

    @property
    def tunes(self) -> bool:
        return self.quantity in ("spread", "choice")

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        if self.quantity in ("growth", "distance") and any(run.problem["kind"] != "piecewise" for _, run in runs):
            raise UserError(f"the {self.quantity} is measured on problems of kind piecewise")
        if self.quantity == "deviation":
            from fedatlas.theory.closed_forms import validate

            for _, run in runs:
                validate(run.problem, run.setting)

    def paper_text(self, results: Results) -> str:
        chosen = ", ".join(labels.point(name, value) for name, value in self.values.items())
        return chosen or super().paper_text(results)

    def unit(self, results: Results) -> Unit:
        return PLAIN if self.of or self.quantity != "score" else self.quantity_unit(results)

    def score_words(self, results: Results) -> str:
        if self.quantity in WORDS:
            return WORDS[self.quantity]
        words = super().score_words(results)
        if self.quantity == "length":
            target = level_unit(self.measured(results)).tell(self.target or 0)
            return f"rounds of the shortest run whose {words} attains {target}"
        if self.quantity == "spread":
            return f"ratio of the largest to the smallest {words}"
        return words + (f" / {labels.words(self.of)}" if self.of else "")

    def judge(self, results: Results) -> Outcome:
        exact = {"every": self._every, "deviation": self._deviation, "choice": self._choice, "replay": self._replay}
        if self.quantity in exact:
            return exact[self.quantity](results)
        evidence = []
        log, colon = self.has_target or self.quantity == "spread", ":" if self.has_target else ""
        for algorithm in self.algorithms:
            numbers = self._numbers(results, algorithm)
            name, unit = f"{results.name(algorithm)}: {self.score_words(results)}", self.unit(results)
            exact_numbers = self.quantity in WORDS or results.is_deterministic(algorithm)
            if self.share is not None:
                template = f"{name} {self.limits_text(unit)} in a share {{}} of {len(numbers)} settings"
                shares = sample(self._shares(numbers), exact=exact_numbers)
                evidence.append(Evidence(shares, Bounds(self.share, open=True), template))
                continue
            passing = self._passing_rounds(results, algorithm)
            for point, of_seeds in numbers.items():
                location, limits = results.location(point), self.limits()
                limits = replace(limits, high=passing.get(point, limits.high))
                if log or all(map(math.isfinite, of_seeds.values())):
                    values = sample(of_seeds.values(), log=log, exact=exact_numbers)
                    evidence.append(Evidence(values, limits, f"{name}{colon} {{}}{location}", unit=unit))
                else:
                    text = f"{results.name(algorithm)} diverged{location}"
                    evidence.append(Evidence(DIVERGED, Bounds(0), text))
        return judge_all(evidence, more=self.more)

    def _every(self, results: Results) -> Outcome:
        """Return the outcome of what holds at every evaluation."""
        texts, held, seeds, limits = [], True, 0, self.limits()
        columns = [self.measured(results), *filter(None, [self.of])]
        for algorithm in self.algorithms:
            rows, name = results.rows(algorithm, self.where, results.curves), results.name(algorithm)
            if missing := [column for column in columns if column not in rows or not rows[column].notna().any()]:
                raise NotTested(f"{name} has no {missing[0]}")
            values = (rows[columns[0]] / (rows[self.of] if self.of else 1)).dropna()
            low, high = limits.low - ROUNDING * abs(limits.low), limits.high + ROUNDING * abs(limits.high)
            within = int(values.between(low, high).sum())
            diverged = "status" in rows and bool((rows["status"] == "diverged").any())
            held &= not diverged and within == len(values)
            seeds = max(seeds, rows["seed"].nunique())
            ends = " to ".join(dict.fromkeys(labels.number(end, 5) for end in (values.min(), values.max())))
            counts = f"{self.limits_text()} at {within} of {len(values)} evaluations{', diverged' if diverged else ''}"
            texts.append(f"{name}: {' / '.join(map(labels.words, columns))} {ends}, {counts}")
        return exact_outcome("; ".join(texts), held, seeds=seeds)

    def _deviation(self, results: Results) -> Outcome:
        """Return the outcome of the largest deviation from the closed form, in standard errors."""
        from fedatlas.theory.closed_forms import LIMITS, late_means, probabilities

        deviations, seeds, metric = [], 0, self.measured(results)
        for algorithm in self.algorithms:
            for point, part in results.settings(results.rows(algorithm, self.where, results.curves)):
                values = late_means(part, [], metric, self.after or 0).to_numpy(float)
                if (seeds := len(values)) < 2:
                    raise NotTested("A standard error needs two seeds at least")
                p = probabilities(
                    results.view.setting, dict(zip(results.view.axes, map(parse_cell, point), strict=True))
                )
                difference = values.mean() - LIMITS[str(self.limit)](results.view.problem, p)
                error = values.std(ddof=1) / math.sqrt(seeds)
                deviations.append(0.0 if abs(difference) <= ROUNDING else difference / error if error else math.inf)
        quantile = student_quantile(1 - LEVEL / 2 / len(deviations), seeds - 1)
        allowed = quantile if self.at_most is None else self.at_most
        worst, square = max(map(abs, deviations)), sum(z * z for z in deviations) / len(deviations)
        words = f"largest deviation of the mean {labels.words(metric)} from the closed form"
        text = f"{words} {labels.number(worst)} standard errors over {len(deviations)} settings"
        expected = (seeds - 1) / (seeds - 3) if seeds > 3 else math.inf
        squares = f"mean square {labels.number(square)}, expected {labels.number(expected)}"
        return exact_outcome(text, worst <= allowed, f"{labels.number(allowed)} are allowed; {squares}.", seeds, worst)

    def _choice(self, results: Results) -> Outcome:
        """Return the outcome of the best tuned values."""
        texts, held, seeds = [], True, 0
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where)
            held &= all((rows[parameter] == value).all() for parameter, value in self.values.items())
            seeds = max(seeds, int(rows["tuning_seeds"].max()))
            for point, part in results.settings(rows):
                best = ", ".join(labels.point(name, part[name].iloc[0]) for name in self.values)
                texts.append(best + results.location(point))
        return exact_outcome("; ".join(texts), held, seeds=seeds)

    def _replay(self, results: Results) -> Outcome:
        """Return the outcome of the largest difference from published runs."""
        differences, unstable, metric = [], 0, self.measured(results)
        for algorithm in self.algorithms:
            for *point, final, best in self.runs.get(algorithm, ()):
                if len(point) != len(results.view.axes) or 0 in (final, best):
                    raise UserError(
                        f"{self.title()}: a run of {algorithm} is {[*point, final, best]}; it must be the values of "
                        f"{len(results.view.axes)} axes and two values of the metric that are not 0"
                    )
                rows = results.rows(algorithm, dict(zip(results.view.axes, point, strict=True)), results.curves)
                values = rows.sort_values("round")[metric].to_numpy(float)
                if not values.max() <= values[0]:
                    unstable += 1
                else:
                    differences.append(max(abs(values[-1] / final - 1), abs(values.min() / best - 1)))
        if not differences:
            raise NotTested("All published runs are unstable here")
        largest = max(differences)
        words = f"largest relative difference of the last and the best {labels.words(metric)}"
        text = f"{words} {labels.number(largest)} over {len(differences)} published runs"
        note = f"{unstable} more runs are unstable and are not compared." if unstable else ""
        return exact_outcome(text, self.limits().side(largest) == 0, note, value=largest)

    def _passing_rounds(self, results: Results, algorithm: str) -> dict[Point, float]:
        """Return the first evaluated round of each setting that is not below the upper bound, if rounds are counted."""
        if self.cost != "rounds":
            return {}
        rows = results.rows(algorithm, self.where, results.curves)
        passing = rows[rows["round"] >= self.limits().high]
        return {point: float(part["round"].min()) for point, part in results.settings(passing) if len(part)}

    def _numbers(self, results: Results, algorithm: str) -> Mapping[Point, Numbers]:
        """Return the quantity of each run, by point of the axes and seed."""
        if self.quantity in ("score", "length"):
            return self._scores(results, algorithm) if self.quantity == "score" else self._lengths(results, algorithm)
        frame = results.trials if self.quantity == "spread" else results.curves
        settings = results.settings(results.rows(algorithm, self.where, frame))
        if self.quantity != "spread":
            return {point: {0: self._measure(results, algorithm, rows)} for point, rows in settings}
        spreads = {
            point: {seed: _spread(runs) for seed, runs in rows.groupby("seed") if len(runs) > 1}
            for point, rows in settings
        }
        return {point: of_seeds for point, of_seeds in spreads.items() if of_seeds}

    def _lengths(self, results: Results, algorithm: str) -> dict[Point, Numbers]:
        """Return the fewest rounds of a setting whose score attains the target, by seed."""
        rows, low = results.rows(algorithm, self.where, results.curves), results.goal(self.metric) == "min"
        lengths = {point: float(part["round"].max()) for point, part in results.settings(rows)}
        target, fewest = self.target or 0.0, dict[int, float]()
        for point, scores in self.numbers(results, algorithm).items():
            for seed, score in scores.items():
                attained = score <= target if low else score >= target
                fewest[seed] = min(fewest.get(seed, math.inf), lengths[point] if attained else math.inf)
        return {(): fewest}

    def _measure(self, results: Results, id: str, rows: "pd.DataFrame") -> float:
        """Return a quantity of an algorithm in one setting that no run's draws change."""
        import numpy as np

        from fedatlas.results.comparing.theorems import rebuild
        from fedatlas.theory.fedac.instability import distances

        algorithm, problem, setting = rebuild(results.view, id, rows)
        if self.quantity == "vectors":
            _, state = algorithm.init(np.zeros(problem.dim))
            return sum(np.ndim(value) > 0 for _, value in state.items())
        constants, steps = problem.constants(), setting.total_rounds * (setting.local_steps or 1)
        condition, interval = constants["L"] / constants["mu"], setting.local_steps
        frame = distances(condition, steps, algorithm.name, interval, self.along)
        if self.quantity == "distance":
            return float(frame["distance"].iloc[-1] / frame["bound"].iloc[0])
        thirds = frame[(frame["step"] > 0) & (frame["step"] % 3 == 0)]
        return float((thirds["distance"] / thirds["bound"]).min())

    def _scores(self, results: Results, algorithm: str) -> dict[Point, Numbers]:
        """Return the score of each run, by point of the axes and seed."""
        scores = self.numbers(results, algorithm)
        if self.of is None:
            return scores
        divisors = results.samples(algorithm, self.where, self.of, self.statistic)
        for name, samples in ((self.measured(results), scores), (self.of, divisors)):
            if not all(math.isfinite(score) for run in samples.values() for score in run.values()):
                raise NotTested(f"{results.name(algorithm)} has no {name}")
        ratios: dict[Point, Numbers] = {}
        for point, run in scores.items():
            by = divisors[point]
            ratios[point] = {seed: score / by[seed] if by[seed] else math.inf for seed, score in run.items()}
        return ratios

    def _shares(self, numbers: Mapping[Point, Numbers]) -> list[float]:
        """Return for each seed the share of settings whose number lies in the bounds."""
        seeds, limits = sorted(set().union(*numbers.values()).intersection(*numbers.values())), self.limits()
        if not seeds:
            raise NotTested("No seed has runs in all settings")
        inside = [[math.isfinite(of[seed]) and limits.side(of[seed]) == 0 for of in numbers.values()] for seed in seeds]
        return [sum(row) / len(row) for row in inside]


def _spread(runs: "pd.DataFrame") -> float:
    """Return the ratio of the largest to the smallest score of a seed's runs; infinite where a run diverged."""
    if (runs["diverged"] > 0).any() or not runs["score"].map(math.isfinite).all():
        return math.inf
    if runs["score"].min() <= 0:
        raise NotTested("A score is not positive, so that ratios mean nothing")
    return float(runs["score"].max() / runs["score"].min())
