"""The results of a run."""

from dataclasses import dataclass, field
from typing import Any

from fedatlas.federation.engine.exchanges import Ledger

COST_COLUMNS = ("vectors_up", "vectors_down", "bits_up", "bits_down", "gradients", "samples", "seconds")
CLOCK = "simulated_seconds"  # a column of runs whose rounds follow from the time that clients take

# A run that ends with a loss so many times as large as its first loss, or as 1, has diverged: its numbers are finite
# only because the rounds were spent. A loss that grows and falls again has not.
DIVERGENCE = 1e6


@dataclass
class History:
    """The evaluations of one run.

    Costs are vectors and bits sent up and down, gradients and samples, per active client and summed over rounds; and
    seconds of training without evaluation. Asynchronous runs have the time on their clients' clock as well, as CLOCK.

    Attributes:
        rows: A row for each evaluation of the setting's grid, with ``round``, ``steps``, the costs up to it, the
            problem's metrics, those that the setting names, and statistics of recorded values of local steps.
        status: ``ok`` or ``diverged``.
        diverged_round: Number of rounds after which the output or the loss was first not finite; or, if they are finite
            to the end, after which the loss stays above DIVERGENCE times its first value, or 1 if that is less.
        cause: Hook and field whose numbers are not finite in the first round, where the run diverged in it.
        x: Last output, (d,).
        totals: Totals of the setting's metrics over rounds, by name, as `RoundMetric.add` returns them.
        ledger: Exchanges of all rounds.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    status: str = "ok"
    diverged_round: int | None = None
    cause: str = ""
    x: Any = None
    ledger: Ledger = field(default_factory=Ledger)
    totals: dict[str, list[float]] = field(default_factory=dict)

    def finish(self) -> None:
        """Set the status of a run whose rounds are spent."""
        if self.status != "ok":
            return
        bound = DIVERGENCE * max(1.0, abs(self.rows[0]["loss"]))
        for row in reversed(self.rows):
            if row["loss"] <= bound:
                break
            self.status, self.diverged_round = "diverged", row["round"]
