"""Curves with the time that their runs would have taken on the clients of a figure's cost model."""

import dataclasses
import functools
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fedatlas.experiments import axis_values
from fedatlas.experiments.cells import Cell, CellSpec, Run, Search
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.runs import create_algorithm, create_run, create_setting, initial_searches
from fedatlas.experiments.selection import select_rows
from fedatlas.federation import problems
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import is_split
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems import Problem
from fedatlas.federation.streams import random_client, stream
from fedatlas.results.costs import COST_MODELS, CostModel
from fedatlas.results.costs.elapsed import RUN_COLUMNS, ActiveClients, Workload, seconds
from fedatlas.results.costs.operations import per_sample
from fedatlas.workflow.inputs import ResultTables
from fedatlas.workflow.shared_files import partition_file

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.results.figures.cost_figure import CostFigure


class SimulatedTime(Protocol):
    """A figure or a check that needs simulated time.

    Attributes:
        where: Values of axes that select the runs.
        model: Specification of the cost model.
    """

    @property
    def where(self) -> dict[str, Any]: ...

    @property
    def model(self) -> Any: ...


def specify(figure: "CostFigure", cells: Sequence[Cell]) -> dict[str, str | None]:
    """Return the run files of the figure's algorithms, with the files of their partitions."""
    return files([cell for cell in cells if cell.id in (figure.algorithms or [cell.id])])


def files(cells: Sequence[Cell]) -> dict[str, str | None]:
    """Return the run files of cells, with the files of their partitions."""
    return {
        f"{cell.id}/{cell.key}": partition_file(cell.spec)[0] if is_split(cell.spec.problem.get("partition")) else None
        for cell in cells
    }


def build(
    request: SimulatedTime,
    view: ExperimentView,
    needed: dict[str, str | None],
    results: ResultTables,
    directory: str | Path | None,
) -> dict[str, Any]:
    """Return ``curves`` with the column ``simulated_seconds``, in which rows that are not selected have no value."""
    curves = results.curves.copy()
    plotted = curves[curves["algorithm"].isin([name.split("/")[0] for name in needed])]
    runs = _runs(results.folder, needed, view.axes)
    model, clock = COST_MODELS.build(request.model), _Clock(directory)
    curves[SIMULATED] = np.nan
    groups = []
    for (id, *cells, seed), rows in select_rows(plotted, request.where).groupby(
        ["algorithm", *view.axes, "seed"], sort=False, dropna=False
    ):
        spec, search, file = runs[_run_key(id, [axis_values.parse(_plain(cell)) for cell in cells])]
        groups.append((spec, file, create_run(spec, search.within, search.chosen or {}, int(seed)), rows))
    groups.sort(key=lambda group: json.dumps(group[0].problem, sort_keys=True))  # then one problem is in memory
    for spec, file, run, rows in groups:
        curves.loc[rows.index, SIMULATED] = clock.seconds(model, (spec, file), run, rows)
    return {"curves": curves}


def _runs(
    folder: Path, files: dict[str, str | None], axes: list[str]
) -> dict[str, tuple[CellSpec, Search, str | None]]:
    """Return specification, search and partition of the scored runs, by id and point of the axes."""
    runs = {}
    for name, file in files.items():
        meta = RunMeta.of(read_meta(folder / "runs" / f"{name}.parquet"))
        for search in meta.searches or initial_searches(meta.spec):
            point = [search.within[axis] if axis in search.within else meta.spec.axis_value(axis) for axis in axes]
            runs[_run_key(name.split("/")[0], point)] = (meta.spec, search, file)
    return runs


def _run_key(id: str, point: Sequence[Any]) -> str:
    """Return the key of a run: the id of its algorithm and its point of the axes, as text."""
    return json.dumps([id, *map(axis_values.text, point)])


def _plain(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


class _Clock:
    """Simulated time of runs. Problems and active clients of the last runs are cached. directory: Of prepared data."""

    def __init__(self, directory: str | Path | None) -> None:
        self.directory = directory
        self._problem = functools.lru_cache(maxsize=1)(self._build_problem)
        self._active_clients = functools.lru_cache(maxsize=32)(self._find_active)
        self._sizes_of_numbers = functools.lru_cache(maxsize=1)(_number_sizes)

    def seconds(
        self, model: CostModel, cell: tuple[CellSpec, str | None], run: Run, rows: "pd.DataFrame"
    ) -> np.ndarray:
        """Return simulated seconds at a run's evaluations, (rows,). cell: Specification and file of the partition."""
        spec, file = cell
        setting = create_setting(run)
        problem_key = (json.dumps(spec.problem, sort_keys=True), spec.setting.get("clients"), file)
        problem = self._problem(*problem_key)
        columns = {name: rows[name].to_numpy(float) for name in RUN_COLUMNS}
        rounds = int(columns["round"][-1])
        ids, ends = self._active_clients(
            problem_key, json.dumps(setting.participation), setting.clients, rounds, run.seed
        )
        active = ActiveClients(ids, ends)
        algorithm = create_algorithm(run)
        if algorithm.overrides("length"):
            active = dataclasses.replace(active, lengths=_lengths(run, setting, problem, columns))
        if algorithm.single_client():
            active = dataclasses.replace(active, random=_random_clients(run, setting, problem, ids, ends))
        number, operations = self._sizes_of_numbers(problem)
        workload = Workload(
            vector=(model.number_bytes or number) * problem.dim,
            operations=model.operations or operations,
            sizes=_sizes(problem, setting),
            batch=setting.batch,
            passes=setting.local_epochs is not None,
            broadcast=len(algorithm.broadcast),
        )
        return seconds(model, workload, active, columns)

    def _build_problem(self, spec: str, clients: Any, file: str | None) -> Problem:
        problem = json.loads(spec)
        if "device" in problem:
            problem["device"] = "cpu"  # nothing is computed that needs the run's device
        return problems.create(problem, clients, self.directory, Partition.load(file) if file else None)

    def _find_active(
        self, problem: tuple[str, Any, str | None], participation: str, clients: int, rounds: int, seed: int
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the ids of the active clients of all rounds, None for all clients, and where the rounds begin."""
        rule = PARTICIPATION.build(json.loads(participation))
        if rule.name == "full":
            return None, clients * np.arange(rounds + 1)
        participants = rule.bind(self._problem(*problem), clients, seed)
        active = [participants.active(t) for t in range(rounds)]
        return np.concatenate([[], *active]).astype(int), np.cumsum([0, *map(len, active)])


def _number_sizes(problem: Problem) -> tuple[int, float]:
    """Return the bytes of a number of the model, and the operations of the gradient of a sample."""
    return problem.start(0).dtype.itemsize, per_sample(problem)


def _random_clients(
    run: Run, setting: Setting, problem: Problem, ids: np.ndarray | None, ends: np.ndarray
) -> np.ndarray:
    """Return the client that is drawn in each round; 0 in an empty one. ids, ends: Those of `ActiveClients`."""
    clients = np.zeros(len(ends) - 1, int)
    for t, (start, end) in enumerate(itertools.pairwise(ends)):
        active = np.arange(setting.clients) if ids is None else ids[start:end]
        if setting.local_epochs is not None:  # the engine's order
            active = active[np.argsort(_sizes(problem, setting)[active], kind="stable")]
        if len(active):
            clients[t] = active[random_client(run.seed, t, len(active))]
    return clients


def _sizes(problem: Problem, setting: Setting) -> np.ndarray:
    """Return the samples of each client, (clients,)."""
    partition = problem.partition
    return np.full(setting.clients, problem.samples) if partition is None else np.asarray(partition.sizes)


def _lengths(run: Run, setting: Setting, problem: Problem, columns: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return the local steps of each round of an algorithm that draws them; None if they differ from the run file."""
    algorithm, rounds = create_algorithm(run, problem).with_constants(problem), columns["round"].astype(int)
    steps = setting.local_steps or 1
    lengths = np.array([algorithm.length(steps, stream(run.seed, "length", t)) for t in range(rounds[-1])], float)
    equal = np.array_equal(np.concatenate([[0], np.cumsum(lengths)])[rounds], columns["steps"])
    return lengths if equal else None
