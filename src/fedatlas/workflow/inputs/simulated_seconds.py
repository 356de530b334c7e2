"""Curves with the time that their runs would have taken on the clients of a figure's cost model.

It follows from the exchanges in the run files. A round takes as long as its slowest active client needs to receive,
compute and send (`Workload.seconds`). A round without any active client takes no time.
"""

import functools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments.cells import EXCHANGES, Cell, CellSpec, Run
from fedatlas.experiments.dependencies import partition_path
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.runs import RunMeta, Search, create_run, create_setting, initial_searches
from fedatlas.experiments.values import cell_text, parse_cell
from fedatlas.experiments.view import ExperimentView, select_rows
from fedatlas.federation import problems
from fedatlas.federation.costs import CostModel
from fedatlas.federation.costs.operations import per_sample
from fedatlas.federation.costs.workload import Workload
from fedatlas.federation.engine.exchanges import Ledger, Profile
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems import instance_at
from fedatlas.federation.problems.base import Problem
from fedatlas.workflow.inputs import ResultTables

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.results.figures.cost_figure import CostFigure


@dataclass(frozen=True)
class ActiveClients:
    """The active clients of successive rounds.

    Attributes:
        ids: Ids of the active clients of all rounds, ascending in each round, one round after another; None where these
            are always all clients.
        ends: Positions in ids at which the rounds begin and end, (rounds + 1,).
    """

    ids: np.ndarray | None
    ends: np.ndarray

    def slowest(self, times: np.ndarray, start: int, stop: int) -> float:
        """Return the sum over rounds start to stop, in each of which a client was active, of the largest time.

        Args:
            times: Time of each client in such a round, (clients,).
            start: Number of the first round.
            stop: Number of the round after the last one.
        """
        if self.ids is None:
            return float((stop - start) * times.max())
        ends = self.ends[start : stop + 1]
        return float(np.maximum.reduceat(times[self.ids[ends[0] : ends[-1]]], ends[:-1] - ends[0]).sum())

    def members(self, round: int) -> np.ndarray:
        """Return the ids of the active clients of a round, (active,)."""
        start, stop = self.ends[round : round + 2]
        return np.arange(stop - start) if self.ids is None else self.ids[start:stop]


def specify(figure: "CostFigure", cells: Sequence[Cell]) -> dict[str, str | None]:
    """Return the run files of the figure's algorithms, with the files of their partitions."""
    return files([cell for cell in cells if cell.id in (figure.algorithms or [cell.id])])


def files(cells: Sequence[Cell]) -> dict[str, str | None]:
    """Return the run files of cells, with the files of their partitions."""
    return {f"{cell.id}/{cell.key}": partition_path(cell.spec) for cell in cells}


def build(
    request: Any,
    view: ExperimentView,
    needed: dict[str, str | None],
    results: ResultTables,
    directory: str | Path | None,
) -> dict[str, Any]:
    """Return ``curves`` with the column ``simulated_seconds``, in which rows that are not selected have no value."""
    curves = results.curves.copy()
    plotted = curves[curves["algorithm"].isin([name.split("/")[0] for name in needed])]
    runs = _runs(results.folder, needed, view.axes)
    clocked = results.curves.get(SIMULATED)  # of runs that have a clock of their own
    curves[SIMULATED] = np.nan
    groups = []
    for (id, *cells, seed), rows in select_rows(plotted, request.where).groupby(
        ["algorithm", *view.axes, "seed"], sort=False, dropna=False
    ):
        point = [parse_cell(cell.item() if isinstance(cell, np.generic) else cell) for cell in cells]
        spec, search, file = runs[(id, *map(cell_text, point))]
        problem = (json.dumps(spec.problem, sort_keys=True), spec.setting.get("clients"), file, directory)
        groups.append((problem, create_run(spec, search.within, search.chosen or {}, int(seed)), rows))
    groups.sort(key=lambda group: group[0][0])  # then one problem is in memory
    for problem, run, rows in groups:
        driver = create_setting(run).driver_kind
        model = request.model_of(driver)
        curves.loc[rows.index, SIMULATED] = (
            clocked[rows.index] if driver.clocked else _run_seconds(model, problem, run, rows)
        )
    return {"curves": curves}


def _runs(
    folder: Path, files: dict[str, str | None], axes: list[str]
) -> dict[tuple[str, ...], tuple[CellSpec, Search, str | None]]:
    """Return specification, search and partition of the scored runs, by id and point of the axes, as text."""
    runs = {}
    for name, file in files.items():
        meta = RunMeta.from_dict(read_meta(folder / "runs" / f"{name}.parquet"))
        for search in meta.searches or initial_searches(meta.spec):
            point = [search.within[axis] if axis in search.within else meta.spec.axis_value(axis) for axis in axes]
            runs[(name.split("/")[0], *map(cell_text, point))] = (meta.spec, search, file)
    return runs


def _run_seconds(model: CostModel, key: tuple[Any, ...], run: Run, rows: "pd.DataFrame") -> np.ndarray:
    """Return simulated seconds at a run's evaluations, (rows,). key: Arguments of `_problem`."""
    setting, (problem, number, operations) = create_setting(run), _problem(*key)
    active = _active_clients(
        key, json.dumps(setting.participation), setting.clients, int(rows["round"].iloc[-1]), run.seed
    )
    partition = problem.partition
    workload = Workload(
        vector=(model.number_bytes or number) * problem.dim,
        operations=model.operations or operations,
        sizes=np.full(setting.clients, problem.samples) if partition is None else np.asarray(partition.sizes),
        batch=setting.batch,
    )
    return seconds(model, workload, active, map(Ledger.parse, rows[EXCHANGES]))


def seconds(model: CostModel, workload: Workload, active: ActiveClients, ledgers: Iterable[Ledger]) -> np.ndarray:
    """Return the seconds from the start of a run to each of its evaluations, (evaluations,).

    Args:
        model: Cost model of the clients.
        workload: Meaning of the run's exchanges.
        active: Active clients of all rounds.
        ledgers: Exchanges of the rounds before each evaluation and after the one before.
    """
    clients = len(workload.sizes)
    rates = model.rates(clients)

    def compute(profile: Profile, members: np.ndarray) -> np.ndarray:
        return workload.seconds(model, rates, profile, members)

    of_all = functools.cache(functools.partial(compute, members=np.arange(clients)))
    elapsed, t, total = [], 0, 0.0
    for ledger in ledgers:
        for profile, rounds in ledger:
            if any(isinstance(amount, tuple) for exchange in profile for amount in exchange):
                total += sum(float(compute(profile, active.members(k)).max()) for k in range(t, t + rounds))
            elif profile:
                total += active.slowest(of_all(profile), t, t + rounds)
            t += rounds
        elapsed.append(total)
    return np.array(elapsed)


@functools.lru_cache(maxsize=1)
def _problem(spec: str, clients: Any, file: str | None, directory: str | Path | None) -> tuple[Problem, int, float]:
    """Return a problem, the bytes of a number of the model, and the operations of the gradient of a sample."""
    content = json.loads(spec)
    if "device" in content:
        content["device"] = "cpu"  # nothing is computed that needs the run's device
    content = instance_at(content, 0)  # sizes are the same for all seeds
    problem = problems.create(content, clients, directory, Partition.load(file) if file else None)
    return problem, problem.start(0).dtype.itemsize, per_sample(problem)


@functools.lru_cache(maxsize=32)
def _active_clients(key: tuple[Any, ...], participation: str, clients: int, rounds: int, seed: int) -> ActiveClients:
    """Return the active clients of all rounds. key: Arguments of `_problem`."""
    rule = PARTICIPATION.build(json.loads(participation))
    if rule.name == "full":
        return ActiveClients(None, clients * np.arange(rounds + 1))
    participants = rule.bind(_problem(*key)[0], clients, seed)
    active = [participants.active(t) for t in range(rounds)]
    return ActiveClients(np.concatenate([[], *active]).astype(int), np.cumsum([0, *map(len, active)]))
