"""What some figures are drawn from besides table and curves: partitions, participation, theorems, memory.

``needed`` says it as JSON types when the workflow's graph is built; ``made`` turns that into arrays in a figure's job.
"""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas import labels
from fedatlas.algorithms.states import vectors_kept
from fedatlas.data.partition import Partition
from fedatlas.data.prepared import load
from fedatlas.experiments.cells import Cell, Run, plain
from fedatlas.experiments.runs import create, runs
from fedatlas.experiments.selection import points_matching
from fedatlas.experiments.view import View
from fedatlas.figures.base import Figure
from fedatlas.partitions import is_split
from fedatlas.problems.base import Problem
from fedatlas.workflow.made_files import partition_file

if TYPE_CHECKING:
    import pandas as pd


def needed(figure: Figure, cells: Iterable[Cell]) -> dict[str, Any]:
    """What a figure needs of an experiment's cells, as JSON types."""
    makers = {"partitions": _partitions, "availability": _participation, "memory": _memory}
    cells = list(cells)
    return {name: make(figure, cells) for name, make in makers.items() if name in figure.inputs}


def made(
    figure: Figure, view: View, inputs: dict[str, Any], table: "pd.DataFrame", directory: str | Path | None = None
) -> "tuple[pd.DataFrame, dict[str, Any]]":
    """The table, with the column ``bound`` where theorems are drawn, and the arguments of `fedatlas.figures.drawing`.

    inputs: from ``needed``. directory: of the prepared data.
    """
    found: dict[str, Any] = {}
    if "theorems" in figure.inputs:
        from fedatlas.theory import promises

        table = promises.promise(view, getattr(figure, "theorems", {}), table, directory)
    if "partitions" in figure.inputs:
        found["partitions"] = [_histogram(one, directory) for one in inputs["partitions"]]
    if "availability" in figure.inputs:
        found["availability"] = [_drawn(one, directory) for one in inputs["availability"]]
    if "memory" in figure.inputs:
        found["memory"] = inputs["memory"]
    return table, found


def _partitions(figure: Figure, cells: list[Cell]) -> list[dict[str, Any]]:
    """The partitions of the cells, each once: how, of which data, in which file."""
    found = {}
    for cell in cells:
        problem = cell.spec.problem
        if is_split(problem.get("partition")):
            path, _ = partition_file(cell.spec)
            found[path] = {"partition": problem["partition"], "data": problem["data"], "file": path}
    return list(found.values())


def _histogram(one: dict[str, Any], directory: str | Path | None) -> tuple[str, np.ndarray]:
    """(title, samples of each class at each client (clients, classes))."""
    data = load(one["data"], directory)
    return labels.text(one["partition"]), Partition.load(one["file"]).histogram(data.y, data.classes)


def _participation(figure: Figure, cells: list[Cell]) -> list[dict[str, Any]]:
    """The participations of the runs that a figure keeps, each once and with the first seed."""
    points: dict[str, tuple[dict[str, Any], Cell, Run]] = {}
    for cell in cells:
        for run in runs(cell.spec):
            axes = {axis: plain(value) for axis, value in {**cell.point, **run.within}.items()}
            points.setdefault(json.dumps(axes), (axes, cell, run))
    found: dict[str, dict[str, Any]] = {}
    every = list(points.values())
    for place in points_matching([axes for axes, _, _ in every], getattr(figure, "where", None)):
        _, cell, run = every[place]
        split = is_split(run.problem.get("partition"))
        one = {"run": dataclasses.asdict(run), "file": partition_file(cell.spec)[0] if split else None}
        key = [run.setting.get("participation"), run.problem.get("data"), run.problem.get("partition")]
        found.setdefault(json.dumps(key), one)
    return list(found.values())


def _drawn(one: dict[str, Any], directory: str | Path | None) -> tuple[str, np.ndarray | None, np.ndarray]:
    """(title, probabilities or None, who took part), both (rounds, clients). They depend on the run alone."""
    run = Run(**one["run"])
    _, setting = create(run)
    problem = Problem()
    problem.partition = Partition.load(one["file"]) if one["file"] else None
    if "data" in run.problem:
        problem.labels = load(run.problem["data"], directory).y
    participants = setting.participants.bind(problem, setting.clients, run.seed)
    there = np.zeros((setting.total_rounds, setting.clients), bool)
    for t, row in enumerate(there):
        row[participants.active(t)] = True
    probabilities = [participants.probabilities(t) for t in range(len(there))]
    known = None if probabilities[0] is None else np.array(probabilities)
    return labels.text(setting.participation), known, there


def _memory(figure: Figure, cells: list[Cell]) -> dict[str, int]:
    """Vectors that a client keeps from round to round, by algorithm."""
    return {cell.id: vectors_kept(create(next(runs(cell.spec)))[0]) for cell in cells}
