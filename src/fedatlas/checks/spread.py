"""How much scores depend on tuned hyper-parameters."""

import math
from dataclasses import dataclass
from typing import Any

from fedatlas.checks.base import Bounded, OfSeveral
from fedatlas.checks.evidence import exact
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.checks.text import ends, ratio
from fedatlas.experiments.scores import compared
from fedatlas.experiments.selection import matching
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Spread(Bounded, OfSeveral):
    """Held if the ratio of the largest score to the smallest, over all values tried for the algorithms, lies in the
    bounds in every setting of ``where``. Tuned values are compared on the tuning seeds. What diverged makes the ratio
    infinite."""

    name = "spread"

    among: dict[str, Any] = option(
        dict, doc="values of tuned hyper-parameters to keep, one or a list; by default all", names="tuned"
    )

    def judge(self, results: Results) -> Outcome:
        import pandas as pd

        rows = pd.concat([results.rows(one, self.where, results.table) for one in self.algorithms])
        for parameter in self.among:
            results.check_tuned(parameter, rows, self.algorithms[0])
        ratios = []
        for _, part in results.settings(matching(rows, self.among)):
            if len(part) > 1:
                scores, diverged = compared(part)
                finite = (diverged == 0).all() and scores.map(math.isfinite).all()
                low, high = scores.min(), scores.max()
                if finite and low <= 0:
                    raise NotTested("A score is not positive, so that ratios mean nothing")
                ratios.append(high / low if finite else math.inf)
        if not ratios:
            raise NotTested("Fewer than two tuned values")
        text = f"largest score {ends(ratios, ratio)} times the smallest"
        return exact(text, all(self.limits().side(one) == 0 for one in ratios), value=max(ratios))
