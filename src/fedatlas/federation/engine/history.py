"""The results of a run: evaluations, which are rows of metrics of problem, clients and server, and recorded values.

A row holds statistics of the values that local steps recorded in the last round before its evaluation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.federation.engine.exchanges import Ledger

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.engine.simulation import Simulation

Progress = Callable[[dict[str, Any]], None]

COST_COLUMNS = ("vectors_up", "vectors_down", "bits_up", "bits_down", "gradients", "samples", "seconds")
LOCAL_LOSS = "local_loss"  # the minibatch's loss before a step, which is recorded of every algorithm
PARTS = ("mean", "min", "max", "within", "between")  # of the values of a NAME, as columns NAME_PART
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
        x: Last output, (d,).
        totals: Totals of the setting's metrics over rounds, by name, as `RoundMetric.add` returns them.
        ledger: Exchanges of all rounds.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    status: str = "ok"
    diverged_round: int | None = None
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


def join_records(records: dict[str, list[np.ndarray]], block: dict[str, list[np.ndarray]]) -> None:
    """Add the records of the Steps of a block to the records of the round.

    Args:
        records: Arrays (K,) of each client, by name; changed.
        block: Arrays (m,) of each local step, by name.
    """
    for name, steps in block.items():
        if steps:
            records.setdefault(name, []).extend(np.stack(steps, axis=1).astype(float))


def record_columns(records: dict[str, list[np.ndarray]]) -> dict[str, Any]:
    """Return the columns of a row.

    Args:
        records: Arrays (K,) of each client, by name.

    Returns:
        For each NAME, NAME_mean, NAME_min and NAME_max over all values; NAME_within, the mean over clients of the
        standard deviation over local steps; and NAME_between, the standard deviation over clients of the mean over
        local steps.
    """
    row: dict[str, Any] = {}
    for name, clients in records.items():
        means, pooled = np.array([values.mean() for values in clients]), np.concatenate(clients)
        row |= {f"{name}_mean": pooled.mean(), f"{name}_min": pooled.min(), f"{name}_max": pooled.max()}
        row |= {f"{name}_within": np.mean([values.std() for values in clients]), f"{name}_between": means.std()}
    return row


def evaluate(pairs: Sequence[tuple["Simulation", History]], progress: Progress | None = None) -> None:
    """Evaluate some simulations of one problem, off the clock, and add their rows to the histories.

    A round that is evaluated for a metric over rounds alone adds to that metric, and no row.

    Args:
        pairs: Simulations with their histories.
        progress: Function that is called with each row.

    Raises:
        UserError: A setting names a metric that is neither reported by the problem nor can be computed.
    """
    simulations = [simulation for simulation, _ in pairs]
    rows = _rows(simulations) if pairs else []
    for (simulation, history), row in zip(pairs, rows, strict=True):
        row |= simulation.columns()
        if simulation.diverged_round is None and not np.isfinite(row["loss"]):
            simulation.diverged_round = simulation.round
        _add_to_totals(simulation.setting, history, row)
        if simulation.diverged_round is not None:
            history.status, history.diverged_round = "diverged", simulation.diverged_round
        elif not simulation.setting.evaluated(simulation.round):
            continue
        history.rows.append(row)
        if progress:
            progress(row)


def _add_to_totals(setting: "Setting", history: History, row: dict[str, Any]) -> None:
    """Add the values of a row to the totals of the metrics over rounds, and these metrics to the row."""
    for name, metric in setting.round_metrics.items():
        if metric.base in row:
            history.totals[name] = metric.add(history.totals.get(name), float(row[metric.base]))
        if name in history.totals:
            row[name] = metric.value(history.totals[name])


def _rows(simulations: Sequence["Simulation"]) -> list[dict[str, Any]]:
    """Return rounds, costs and the metrics of the output of each simulation."""
    outputs = [simulation.output for simulation in simulations]
    reported = simulations[0].problem.evaluate_all(outputs)
    return [
        simulation.metrics(output, values)
        for simulation, output, values in zip(simulations, outputs, reported, strict=True)
    ]
