"""The rate at which scores fall along an axis."""

import math
from dataclasses import dataclass

from fedatlas.errors import UserError
from fedatlas.experiments.selection import is_numeric
from fedatlas.registry.options import option
from fedatlas.results.claims.base import MultiAlgorithmCheck
from fedatlas.results.claims.evidence import judge_all
from fedatlas.results.claims.exponents import ExponentCheck, exponent
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome


@dataclass(frozen=True, kw_only=True)
class Speedup(ExponentCheck, MultiAlgorithmCheck):
    """Held if minus the slope of log score against log ``axis`` lies in the bounds, for all algorithms and all values
    of the other axes, in the mean over seeds.

    A slope of 1 is linear speed-up, 0 is none. A run that diverges is not held.
    """

    name = "speedup"

    axis: str = option(doc="axis of numbers, such as clients", names="axis of numbers")

    def judge(self, results: Results) -> Outcome:
        results.validate_axis("axis", self.axis)
        position, evidence = results.axes.index(self.axis), []
        for algorithm in self.algorithms:
            name = results.name(algorithm)
            if not is_numeric(results.rows(algorithm, self.where)[self.axis]):
                raise UserError(f"axis: the values of {self.axis} are not numbers")
            lines: dict[tuple[object, ...], dict[int, list[tuple[float, float]]]] = {}
            for point, seed_scores in results.samples(algorithm, self.where).items():
                seed_lines = lines.setdefault((*point[:position], *point[position + 1 :]), {})
                for seed, score in seed_scores.items():
                    seed_lines.setdefault(seed, []).append((point[position], score))
            for seed_lines in lines.values():
                slopes = [self._slope(name, line) for line in seed_lines.values()]
                evidence.append(self.exponent_evidence(results, [algorithm], slopes, name, f"{name} {{}}"))
        return judge_all(evidence, more=self.more, separator=", ")

    def _slope(self, name: str, line: list[tuple[float, float]]) -> float:
        """Return minus the slope of a seed; NaN where a run diverged."""
        if not all(math.isfinite(score) for _, score in line):
            return math.nan
        line = [(value, score) for value, score in line if value > 0 and score > 0]
        if len({value for value, _ in line}) < 2:
            raise NotTested(f"Fewer than two positive scores of {name} along positive values of {self.axis}")
        return -exponent(*zip(*line, strict=True))
