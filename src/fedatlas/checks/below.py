"""Checks of runs against theorems."""

import math

from fedatlas import labels
from fedatlas.checks.base import Outcome, kind
from fedatlas.theory import comparison as bounds


@kind("below")
def below(results, algorithm, theorem, where=None):
    """Whether what a theorem bounds lies at or below its bound at every evaluation of every run of ``where``; not where
    one diverged or ended early."""
    rows, texts, held = results.rows(algorithm, where, results.curves), [], True
    for point, part in rows.groupby(results.axes, sort=False) if results.axes else [((), rows)]:
        found = list(bounds.runs(results.about, theorem, algorithm, part))
        ratio = max(bounds.worst(measured, bound) for _, _, measured, bound in found)
        held &= ratio <= 1
        place = results.point(point)
        text = f"at most {labels.number(ratio)} of the bound" if math.isfinite(ratio) else "diverged or ended early"
        texts.append(f"{text}{' at ' + place if place else ''}")
    return Outcome("; ".join(texts), bool(held))
