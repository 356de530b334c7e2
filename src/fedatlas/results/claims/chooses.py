"""The best tuned values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.experiments.scores import worst_score
from fedatlas.experiments.selection import select_rows
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Chooses(AlgorithmCheck):
    """Held if the best tuned values of the algorithm, over the tuning seeds, are ``values`` in every setting of
    ``where``.

    The best are those that were chosen, or the best of ``among``: then what the search added to the grid does not
    count. What diverged is never the best, unless all diverged.
    """

    name = "chooses"
    tunes = True

    values: dict[str, float] = option(
        doc="the best value of each tuned hyper-parameter that counts", names="tuned", filled=True
    )
    among: dict[str, Any] = option(
        dict, doc="values of tuned hyper-parameters to keep, one or a list; by default all", names="tuned"
    )

    def paper_text(self, results: Results) -> str:
        return ", ".join(labels.point(name, value) for name, value in self.values.items())

    def judge(self, results: Results) -> Outcome:
        rows = self._best_rows(results) if self.among else results.rows(self.algorithm, self.where)
        for parameter in self.values:
            results.validate_tuned(parameter, rows, self.algorithm)
        held = all((rows[parameter] == value).all() for parameter, value in self.values.items())
        texts = []
        for point, part in results.settings(rows):
            best = ", ".join(labels.point(name, part[name].iloc[0]) for name in self.values)
            texts.append(best + results.location(point))
        return exact_outcome("; ".join(texts), held, seeds=int(rows["tuning_seeds"].max()))

    def _best_rows(self, results: Results) -> "pd.DataFrame":
        """Return for each setting a row with the best values of ``among``, by the median over the tuning seeds."""
        import pandas as pd

        rows = results.rows(self.algorithm, self.where, results.trials)
        for parameter in self.among:
            results.validate_tuned(parameter, rows, self.algorithm)
        rows = select_rows(rows, self.among)
        if rows.empty:
            raise NotTested("None of the values was tried")
        goal = results.goal(results.view.select.tuning_metric)
        scores = rows["score"].fillna(worst_score(goal))
        keys = [*results.axes, *(name for name in results.view.tune if name in rows)]
        groups = rows.assign(score=scores).groupby(keys, sort=False, dropna=False)
        medians = groups.agg(score=("score", "median"), tuning_seeds=("seed", "count"), lost=("diverged", "max"))
        medians["score"] = medians["score"].mask(medians["lost"] > 0, worst_score(goal))
        best = "idxmin" if goal == "min" else "idxmax"
        return pd.concat(
            [part.loc[[getattr(part["score"], best)()]] for _, part in results.settings(medians.reset_index())]
        )
