"""The results of a run."""

from dataclasses import dataclass, field
from typing import Any

COST_COLUMNS = ("vectors_up", "vectors_down", "gradients", "samples", "seconds")


@dataclass
class History:
    """The evaluations of one run.

    rows: one for each evaluation, with ``round``, ``steps``, the costs up to it, the problem's metrics, those that the
    setting names, and what was recorded of local steps. Costs are vectors sent up and down, gradients and samples: each
    per active client and summed over rounds; and seconds of training without evaluation. status: ``ok`` or
    ``diverged``. diverged_round: number of rounds after which the output or the loss was first not finite. x: the last
    output (d,).
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    status: str = "ok"
    diverged_round: int | None = None
    x: Any = None
