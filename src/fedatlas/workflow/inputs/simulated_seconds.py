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
from fedatlas.results.costs.elapsed import RECORDED, ActiveClients, Workload, seconds
from fedatlas.results.costs.operations import per_sample
from fedatlas.workflow.inputs import ResultTables
from fedatlas.workflow.shared_files import partition_file

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.results.figures.cost_figure import CostFigure


class Asked(Protocol):
    """What asks for simulated time: a figure, or a check. where: the runs. model: specification of the cost model."""

    @property
    def where(self) -> dict[str, Any]: ...

    @property
    def model(self) -> Any: ...


def specify(figure: "CostFigure", cells: Sequence[Cell]) -> dict[str, str | None]:
    """The run files of the figure's algorithms, whose metadata say what was run, and the files of their partitions."""
    return files([cell for cell in cells if cell.id in (figure.algorithms or [cell.id])])


def files(cells: Sequence[Cell]) -> dict[str, str | None]:
    """The run files of cells and the files of their partitions."""
    split = [is_split(cell.spec.problem.get("partition")) for cell in cells]
    return {
        f"{cell.id}/{cell.key}": partition_file(cell.spec)[0] if own else None
        for cell, own in zip(cells, split, strict=True)
    }


def build(
    asked: Asked,
    view: ExperimentView,
    needed: dict[str, str | None],
    results: ResultTables,
    directory: str | Path | None,
) -> dict[str, Any]:
    """``curves``: with the column ``simulated_seconds``, of which rows that are not asked for have no value."""
    curves = results.curves.copy()
    drawn = curves[curves["algorithm"].isin([name.split("/")[0] for name in needed])]
    runs = _runs(results.folder, needed, view.axes)
    model, clock = COST_MODELS.build(asked.model), _Clock(directory)
    curves[SIMULATED] = np.nan
    groups = []
    for (id, *cells, seed), rows in select_rows(drawn, asked.where).groupby(
        ["algorithm", *view.axes, "seed"], sort=False, dropna=False
    ):
        spec, search, file = runs[_place(id, [axis_values.parse(_plain(cell)) for cell in cells])]
        groups.append((spec, file, create_run(spec, search.within, search.chosen or {}, int(seed)), rows))
    groups.sort(key=lambda group: json.dumps(group[0].problem, sort_keys=True))  # then one problem is in memory
    for spec, file, run, rows in groups:
        curves.loc[rows.index, SIMULATED] = clock.seconds(model, (spec, file), run, rows)
    return {"curves": curves}


def _runs(
    folder: Path, files: dict[str, str | None], axes: list[str]
) -> dict[str, tuple[CellSpec, Search, str | None]]:
    """Specification, search and partition of the runs that are scored, by id and point of the axes."""
    found = {}
    for name, file in files.items():
        meta = RunMeta.of(read_meta(folder / "runs" / f"{name}.parquet"))
        for search in meta.searches or initial_searches(meta.spec):
            point = [search.within[axis] if axis in search.within else meta.spec.axis_value(axis) for axis in axes]
            found[_place(name.split("/")[0], point)] = (meta.spec, search, file)
    return found


def _place(id: str, point: Sequence[Any]) -> str:
    """What a run is found by: the id of its algorithm and its point of the axes."""
    return json.dumps([id, *map(axis_values.text, point)])


def _plain(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


class _Clock:
    """Measures runs. directory: of the prepared data."""

    def __init__(self, directory: str | Path | None) -> None:
        self.directory = directory
        self._problem = functools.lru_cache(maxsize=1)(self._built)
        self._attended = functools.lru_cache(maxsize=32)(self._active)
        self._counted = functools.lru_cache(maxsize=1)(_counts)

    def seconds(
        self, model: CostModel, cell: tuple[CellSpec, str | None], run: Run, rows: "pd.DataFrame"
    ) -> np.ndarray:
        """Simulated seconds at the evaluations of a run, (rows,). cell: of the run; file of its partition."""
        spec, file = cell
        setting = create_setting(run)
        asked = (json.dumps(spec.problem, sort_keys=True), spec.setting.get("clients"), file)
        problem = self._problem(*asked)
        recorded = {name: rows[name].to_numpy(float) for name in RECORDED}
        rounds = int(recorded["round"][-1])
        ids, ends = self._attended(asked, json.dumps(setting.participation), setting.clients, rounds, run.seed)
        attendance = ActiveClients(ids, ends)
        algorithm = create_algorithm(run)
        if algorithm.overrides("length"):
            attendance = dataclasses.replace(attendance, lengths=_lengths(run, setting, problem, recorded))
        if algorithm.single_client():
            attendance = dataclasses.replace(attendance, drawn=_drawn(run, setting, problem, ids, ends))
        number, operations = self._counted(problem)
        work = Workload(
            vector=(model.number_bytes or number) * problem.dim,
            operations=model.operations or operations,
            sizes=_sizes(problem, setting),
            batch=setting.batch,
            passes=setting.local_epochs is not None,
            broadcast=len(algorithm.broadcast),
        )
        return seconds(model, work, attendance, recorded)

    def _built(self, spec: str, clients: Any, file: str | None) -> Problem:
        described = json.loads(spec)
        if "device" in described:
            described["device"] = "cpu"  # nothing is computed that needs the run's device
        return problems.create(described, clients, self.directory, Partition.load(file) if file else None)

    def _active(
        self, problem: tuple[str, Any, str | None], participation: str, clients: int, rounds: int, seed: int
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """Ids of the active clients of all rounds, None where these are all clients, and where the rounds begin."""
        rule = PARTICIPATION.build(json.loads(participation))
        if rule.name == "full":
            return None, clients * np.arange(rounds + 1)
        participants = rule.bind(self._problem(*problem), clients, seed)
        active = [participants.active(t) for t in range(rounds)]
        return np.concatenate([[], *active]).astype(int), np.cumsum([0, *map(len, active)])


def _counts(problem: Problem) -> tuple[int, float]:
    """Bytes of a number of the model, and operations of the gradient of a sample."""
    return problem.start(0).dtype.itemsize, per_sample(problem)


def _drawn(run: Run, setting: Setting, problem: Problem, ids: np.ndarray | None, ends: np.ndarray) -> np.ndarray:
    """The client that is drawn in each round; 0 in an empty one. ids, ends: of the active clients."""
    found = np.zeros(len(ends) - 1, int)
    for t, (start, end) in enumerate(itertools.pairwise(ends)):
        active = np.arange(setting.clients) if ids is None else ids[start:end]
        if setting.local_epochs is not None:  # the engine's order
            active = active[np.argsort(_sizes(problem, setting)[active], kind="stable")]
        if len(active):
            found[t] = active[random_client(run.seed, t, len(active))]
    return found


def _sizes(problem: Problem, setting: Setting) -> np.ndarray:
    """Samples of each client, (clients,)."""
    split = problem.partition
    return np.full(setting.clients, problem.samples) if split is None else np.asarray(split.sizes)


def _lengths(run: Run, setting: Setting, problem: Problem, recorded: dict[str, np.ndarray]) -> np.ndarray | None:
    """Local steps of each round of an algorithm that draws them; None if they are not those that were recorded."""
    algorithm, rounds = create_algorithm(run, problem).with_constants(problem), recorded["round"].astype(int)
    steps = setting.local_steps or 1
    lengths = np.array([algorithm.length(steps, stream(run.seed, "length", t)) for t in range(rounds[-1])], float)
    same = np.array_equal(np.concatenate([[0], np.cumsum(lengths)])[rounds], recorded["steps"])
    return lengths if same else None
