"""Runs compared with published runs, draw by draw."""

from dataclasses import dataclass

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import Check
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome


@dataclass(frozen=True, kw_only=True)
class Replays(Check):
    """Held if each published run is replayed: final and best value of the metric agree within a relative tolerance.

    A run in which the metric exceeds its value at the start, at some evaluation, is unstable: it multiplies rounding
    errors, so that two correct programs differ. Such runs are counted and not compared.
    """

    name = "replays"

    metric: str = option(doc="the metric", names="metric")
    axes: list[str] = option(doc="axes whose values tell the runs of an algorithm apart", names="axis", filled=True)
    runs: dict[str, list[list[float]]] = option(
        doc="published runs of each algorithm: values of the axes in their order, final value and best value",
        names="algorithms",
        filled=True,
    )
    tolerance: float = option(1e-12, doc="largest relative difference", above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        length = len(self.axes) + 2
        for algorithm, runs in self.runs.items():
            for run in runs:
                if len(run) != length or 0 in run[-2:]:
                    raise UserError(
                        f"{self.title()}: a run of {algorithm} is {run}; it must be the values of "
                        f"{len(self.axes)} axes and two values of the metric that are not 0"
                    )

    def judge(self, results: Results) -> Outcome:
        differences, unstable = [], 0
        for algorithm, runs in self.runs.items():
            for *point, final, best in runs:
                rows = results.rows(algorithm, dict(zip(self.axes, point, strict=True)), results.curves)
                values = rows.sort_values("round")[self.metric].to_numpy(float)
                if not values.max() <= values[0]:
                    unstable += 1
                else:
                    differences.append(max(abs(values[-1] / final - 1), abs(values.min() / best - 1)))
        if not differences:
            raise NotTested("All published runs are unstable here")
        largest = max(differences)
        words = f"largest relative difference of the last and the best {labels.words(self.metric)}"
        text = f"{words} {labels.number(largest)} over {len(differences)} published runs"
        note = f"{unstable} more runs are unstable and are not compared." if unstable else ""
        return exact_outcome(text, largest <= self.tolerance, note, value=largest)
