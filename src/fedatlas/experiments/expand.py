"""From an experiment to its cells: one algorithm at one setting, with all tuning values and seeds inside."""

import copy
from dataclasses import replace
from typing import Any

from fedatlas import algorithms, problems
from fedatlas.algorithms import Algorithm
from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments import axes
from fedatlas.experiments.cells import Cell, CellSpec, Point
from fedatlas.experiments.runs import assign, create_algorithm, create_setting, product, runs
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.view import Shown, View
from fedatlas.simulation.setting import Setting


def cells(experiment: Experiment) -> list[Cell]:
    """All cells of an experiment, checked: every combination of values is built once, so that no job fails on one.

    Raises UserError that names the file.
    """
    found: list[Cell] = []
    try:
        for id in experiment.algorithms:
            axes.check({"grid": experiment.grid, "within": experiment.within, "tune": experiment.tuning(id)})
        for point in product(experiment.grid):
            for id in experiment.algorithms:
                parts = [_cell(experiment, id, point, [part, experiment.parts]) for part in range(experiment.parts)]
                found += [cell for cell in parts if next(runs(cell.spec), None)]
        _distinct(found)
    except UserError as error:
        raise UserError(f"{experiment.where}: {error}") from None
    return found


def view(experiment: Experiment) -> View:
    """What tables, figures and claims know of an experiment.

    Raises UserError, naming the file, on an unknown algorithm.
    """
    try:
        shown = {id: _shown(experiment, id) for id in experiment.algorithms}
    except UserError as error:
        raise UserError(f"{experiment.where}: {error}") from None
    tuned = {name for id in experiment.algorithms for name in experiment.tuning(id)} | set(experiment.tune)
    return View(
        name=experiment.name,
        size=experiment.size,
        axes=list(experiment.axes),
        tune=sorted(tuned),
        select=experiment.select,
        problem=experiment.problem,
        setting=experiment.setting,
        seeds=experiment.seeds,
        algorithms=shown,
    )


def _shown(experiment: Experiment, id: str) -> Shown:
    entry, algorithm = experiment.algorithms[id], experiment.algorithm(id)
    known = algorithms.get(algorithm)
    own: str = getattr(known, "label", id) if id == algorithm else id
    return Shown(
        algorithm=algorithm, name=entry.label or own, set=entry.set, tune=experiment.tuning(id), setting=entry.setting
    )


def _distinct(cells: list[Cell]) -> None:
    seen = set()
    for cell in cells:
        if (cell.id, cell.key) in seen:
            raise UserError(
                f"grid: two points would share the run file {cell.key}.parquet; make their values differ more"
            )
        seen.add((cell.id, cell.key))


def _cell(experiment: Experiment, id: str, point: Point, part: list[int]) -> Cell:
    entry = experiment.algorithms[id]
    parts: dict[str, Any] = {
        "parameters": dict(entry.set),
        "problem": copy.deepcopy(experiment.problem),
        "setting": {**copy.deepcopy(experiment.setting), **entry.setting},
    }
    for axis, value in point.items():
        assign(parts, axis, value)
    spec = CellSpec(
        algorithm=experiment.algorithm(id),
        within=experiment.within,
        tune=experiment.tuning(id),
        seeds=entry.seeds or experiment.seeds,
        optimum=experiment.optimum,
        part=None if part == [0, 1] else part,
        **parts,
    )
    _check(experiment, spec)
    return Cell(id, point, spec)


def _check(experiment: Experiment, spec: CellSpec) -> None:
    if "clients" in spec.within and "partition" in spec.problem:
        raise UserError("within: clients cannot vary inside a run file if the data are partitioned; use grid")
    problems.check(spec.problem)
    kind = problems.get(spec.problem["kind"])
    recorded = {name for id in experiment.algorithms for name in algorithms.get(experiment.algorithm(id)).records}
    built: dict[str, Algorithm] = {}
    settings: dict[str, Setting] = {}
    for run in runs(replace(spec, seeds=spec.seeds[:1])):  # a seed changes neither algorithm nor setting
        parameters, conditions = repr(run.parameters), repr(run.setting)
        if parameters not in built:
            built[parameters] = create_algorithm(run)
        if conditions not in settings:
            settings[conditions] = _checked(create_setting(run), recorded)
        built[parameters].check(settings[conditions], kind)


def _checked(setting: Setting, recorded: set[str]) -> Setting:
    """A setting whose files are there. recorded: names of all that the experiment's algorithms can record."""
    setting.participants.check_files(setting.clients)
    for name in setting.record or ():
        if name not in recorded:
            raise UserError(
                f"record: no algorithm of the experiment notes {name!r}{did_you_mean(name, sorted(recorded))}"
            )
    return setting
