"""The results of a run."""

from dataclasses import dataclass, field
from typing import Any

COST_COLUMNS = ("vectors_up", "vectors_down", "gradients", "samples", "seconds")


@dataclass
class History:
    """The evaluations of one run.

    Costs are vectors sent up and down, gradients and samples, per active client and summed over rounds; and seconds of
    training without evaluation.

    Attributes:
        rows: A row for each evaluation, with ``round``, ``steps``, the costs up to it, the problem's metrics, those
            that the setting names, and recorded values of local steps.
        status: ``ok`` or ``diverged``.
        diverged_round: Number of rounds after which the output or the loss was first not finite.
        x: Last output, (d,).
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    status: str = "ok"
    diverged_round: int | None = None
    x: Any = None
