"""The fewest rounds of a setting whose score attains a target."""

from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import OfOne
from fedatlas.checks.results import Outcome, Results
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class RoundsTo(OfOne):
    """Held if the score attains ``target`` in a setting of ``where``, and the fewest rounds of such settings are at
    most ``paper``, or equal to it if ``exactly``."""

    name = "rounds_to"

    target: float = option(doc="score that must be attained")
    exactly: bool = option(False, doc="whether the fewest rounds must equal the paper's number")

    def judge(self, results: Results) -> Outcome:
        rows = results.rows(self.algorithm, self.where)
        low = results.goal() == "min"
        there = rows[(rows["score"] <= self.target) if low else (rows["score"] >= self.target)]
        if there.empty:
            best = rows["score"].min() if low else rows["score"].max()
            return Outcome(f"not attained; best {labels.number(best)}", False)
        fewest = there.loc[there["rounds"].idxmin()]
        rounds = float(fewest["rounds"])
        note = f"At {labels.setting(fewest, results.axes)}." if results.axes else ""
        held = self.paper is None or (rounds == self.paper if self.exactly else rounds <= self.paper)
        return Outcome(labels.number(rounds), held, note)
