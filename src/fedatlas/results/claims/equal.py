"""Algorithms whose scores agree."""

import itertools
import math
import statistics
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims import MultiAlgorithmCheck, QuantityCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, exact_outcome, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import DIVERGED, sample

ROUNDING = 1e-14  # differences of scores that double precision does not resolve


@dataclass(frozen=True, kw_only=True)
class Equal(QuantityCheck, MultiAlgorithmCheck):
    """Held if the scores, or with a ``cost`` the costs, of each two algorithms agree to a ``tolerance`` in every
    setting of ``where``.

    Runs of one seed are compared: all differences lie within the tolerance, or the interval of their mean does.
    Differences are relative to the larger score; those below 10⁻¹⁴ are rounding error. Settings where both diverged are
    left out.
    """

    name = "equal"

    tolerance: float = option(doc="largest relative difference", low=0)

    def judge(self, results: Results) -> Outcome:
        bounds, evidence, failed = Bounds(-self.tolerance, self.tolerance), [], []
        worst, seeds, words = 0.0, 0, self.score_words(results)
        ids = itertools.combinations(self.algorithms, 2)
        for first, second, point, pairs, failure in self.contests(results, ids):
            names, location = f"{results.name(first)} and {results.name(second)}", results.location(point)
            pairs = [pair for pair in pairs if any(map(math.isfinite, pair))]
            if failure:
                failed.append(failure)
            elif pairs and all(math.isfinite(score) for pair in pairs for score in pair):
                exact = results.is_deterministic(first, second)
                differences = sample((_difference(*pair) for pair in pairs), exact=exact)
                worst, seeds = max(worst, *map(abs, differences.values)), max(seeds, len(pairs))
                means = self.quantity_unit(results).tell(*map(statistics.fmean, zip(*pairs, strict=True)))
                template = f"relative difference {{}} of the {words} between {names} ({means}){location}"
                evidence.append(Evidence(differences, bounds, template))
            elif pairs:
                worst = math.inf
                evidence.append(Evidence(DIVERGED, bounds, f"one of {names} diverged{location}"))
        if evidence and not failed and worst <= self.tolerance:
            text = f"largest relative difference {labels.number(worst)} of the {words}"
            return exact_outcome(text, True, seeds=seeds, value=worst)
        return judge_all(evidence, failed=failed)


def _difference(a: float, b: float) -> float:
    """Return the difference of two scores, as a share of the larger."""
    return 0.0 if abs(a - b) <= ROUNDING else (a - b) / max(abs(a), abs(b))
