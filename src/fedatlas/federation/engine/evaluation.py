"""Evaluations: rows of metrics of the problem, of the clients' models and of the server."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.setting import Setting

if TYPE_CHECKING:
    from fedatlas.federation.engine.simulation import Simulation

Progress = Callable[[dict[str, Any]], None]


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


def _add_to_totals(setting: Setting, history: History, row: dict[str, Any]) -> None:
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
