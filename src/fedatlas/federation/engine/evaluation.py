"""Evaluations: rows of metrics of the problem, of the clients' models and of the server."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.engine import pools, recording
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.hook_results import explain_names
from fedatlas.federation.engine.workers import Block

if TYPE_CHECKING:
    from fedatlas.federation.engine.simulation import Simulation

Progress = Callable[[dict[str, Any]], None]


def evaluate(pairs: "Sequence[tuple[Simulation, History]]", progress: Progress | None = None) -> None:
    """Add a row to the history of each of some simulations of one problem. The time of evaluations is not counted.

    Args:
        pairs: Simulations with their histories.
        progress: Function that is called with each row.

    Raises:
        UserError: A setting names a metric that is neither reported by the problem nor can be computed.
    """
    simulations = [simulation for simulation, _ in pairs]
    rows = simulations[0].workers.share(lambda: _rows(simulations)) if pairs else []
    for (simulation, history), row in zip(pairs, rows, strict=True):
        with explain_names(simulation.algorithm):
            row |= client_columns(simulation) | server_columns(simulation) | recorded_columns(simulation)
        if simulation.diverged_round is None and not np.isfinite(row["loss"]):
            simulation.diverged_round = simulation.round
        history.rows.append(row)
        if simulation.diverged_round is not None:
            history.status, history.diverged_round = "diverged", simulation.diverged_round
        if progress:
            progress(row)


def _rows(simulations: "Sequence[Simulation]") -> list[dict[str, Any]]:
    """Return rounds, costs and the metrics of the output of each simulation."""
    problem, rows = simulations[0].problem, []
    outputs = [simulation.output for simulation in simulations]
    for simulation, output, reported in zip(simulations, outputs, problem.evaluate_all(outputs), strict=True):
        computed = simulation.setting.metric_functions(reported).items()
        metrics = {name: float(compute(problem, output)) for name, compute in computed}
        costs = {"round": simulation.round, "steps": simulation.local_steps, **simulation.costs}
        rows.append({**costs, **reported, **metrics})
    return rows


def server_columns(simulation: "Simulation") -> dict[str, float]:
    """Return the numbers that an algorithm's server reports before its next round, by name; none if it declares none.

    Raises:
        UserError: The algorithm does not declare one of them.
    """
    algorithm = simulation.algorithm
    if not algorithm.reports:
        return {}
    values = algorithm.server_metrics(simulation.s, simulation._round(np.zeros(0, int), 0))
    simulation.inspector.look("server_metrics", values)
    if {*values} - {*algorithm.reports}:
        raise UserError(
            f"{algorithm.title()}: server_metrics returns {', '.join(values) or 'nothing'}: write "
            f"`reports = {tuple(values)!r}`"
        )
    return {name: float(values[name]) for name in algorithm.reports if name in values}


def recorded_columns(simulation: "Simulation") -> dict[str, Any]:
    """Return the columns of what the last round recorded.

    Raises:
        UserError: The algorithm declares a value that the setting asks for, and records none.
    """
    algorithm, records = simulation.algorithm, simulation.records
    asked = [name for name in simulation.setting.record or () if name in algorithm.records]
    if simulation._exchanges and (missing := [name for name in asked if name not in records]):
        raise UserError(
            f"{algorithm.title()}: records names {missing[0]!r}, but no hook notes it: write "
            f"steps.record({missing[0]}=...) in client, or leave it out of records"
        )
    return recording.columns(records)


def client_columns(simulation: "Simulation") -> dict[str, float]:
    """Return the metrics over clients that the setting asks for, by name; nothing is computed if there are none.

    All clients are evaluated, block by block. A client that was never active has the first state of a client.

    Raises:
        UserError: The problem has no such metric, or the rows of a part belong to no clients.
    """
    metrics = simulation.setting.client_metrics
    if not metrics:
        return {}
    names = list(dict.fromkeys(metric.base for metric in metrics.values()))
    parts: dict[str, list[np.ndarray]] = {name: [] for name in names}

    def evaluate(block: Block) -> dict[str, np.ndarray]:
        model = simulation.algorithm.client_model(simulation.client_view(block.ids), simulation.table.read(block.ids))
        simulation.inspector.look("client_model", model, len(block.ids))
        return simulation.problem.evaluate_clients(model, block.ids, names)

    blocks = simulation.division.blocks(np.arange(simulation.setting.clients))
    for values in simulation.workers.map(pools.Serial(), evaluate, blocks, lambda values: values):
        for name in names:
            parts[name].append(values[name])
    return {name: metric.value(np.concatenate(parts[metric.base])) for name, metric in metrics.items()}
