"""Interim analyses: the numbers of seeds at which claims are judged, where undecided comparisons get more seeds."""

from dataclasses import dataclass

from fedatlas.errors import UserError
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class InterimAnalyses:
    """Seeds that are added until claims are decided.

    Runs begin with the seeds 0, 1, ... of the first interim analysis. After each analysis the run files that undecided
    claims compare get the seeds of the next, which are twice as many.
    """

    at_least: int = option(doc="seeds of all runs, at which claims are judged first", low=2, high=1000)
    at_most: int = option(doc="most seeds of runs whose comparisons stay undecided", low=2, high=1000)

    def __post_init__(self) -> None:
        if self.at_most <= self.at_least:
            raise UserError(
                f"seeds: at_most is {self.at_most}; it must be larger than at_least, which is {self.at_least}"
            )

    @property
    def counts(self) -> list[int]:
        """Numbers of seeds of the interim analyses, ascending."""
        counts = [self.at_least]
        while counts[-1] < self.at_most:
            counts.append(min(2 * counts[-1], self.at_most))
        return counts
