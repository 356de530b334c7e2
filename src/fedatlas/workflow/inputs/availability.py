"""Who takes part in the rounds of an experiment's runs, drawn again: it depends on their specifications alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.prepared import load
from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Cell, Run
from fedatlas.experiments.runs import create, runs
from fedatlas.experiments.selection import points_matching
from fedatlas.experiments.view import View
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import is_split
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.base import ClientLabels
from fedatlas.federation.problems.data_options import hold_out
from fedatlas.results.figures.availability import MOST
from fedatlas.results.figures.base import Figure
from fedatlas.workflow.inputs import Results
from fedatlas.workflow.made_files import partition_file


def needed(figure: Figure, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The participations of the runs that a figure keeps, each once and with the first seed.

    Raises UserError if there are none, or more than a figure can hold.
    """
    points: dict[str, tuple[dict[str, Any], Cell, Run]] = {}
    for cell in cells:
        for run in runs(cell.spec):
            axes = {**cell.point, **run.within}
            points.setdefault(json.dumps(axes), (axes, cell, run))
    every = list(points.values())
    found: dict[str, dict[str, Any]] = {}
    for place in points_matching([axes for axes, _, _ in every], getattr(figure, "where", None)):
        _, cell, run = every[place]
        split = is_split(run.problem.get("partition"))
        key = [run.setting.get("participation"), run.problem.get("data"), run.problem.get("partition")]
        found.setdefault(json.dumps(key), _participation(run, partition_file(cell.spec)[0] if split else None))
    if not 1 <= len(found) <= MOST:
        raise UserError(f"where keeps {len(found)} participations; keep 1 to {MOST}")
    return list(found.values())


def _participation(run: Run, file: str | None) -> dict[str, Any]:
    """What a run's participation depends on. file: of the partition."""
    _, setting = create(run)
    found = {
        "participation": setting.participation,
        "clients": setting.clients,
        "rounds": setting.total_rounds,
        "seed": run.seed,
        "data": run.problem.get("data"),
        "file": file,
    }
    return found | ({"validation": held} if (held := run.problem.get("validation")) else {})


def made(
    figure: Figure, view: View, needed: list[dict[str, Any]], results: Results, directory: str | Path | None
) -> dict[str, Any]:
    """``availability``: (title, probabilities or None, who took part), both (rounds, clients), of each."""
    return {"availability": [_drawn(one, directory) for one in needed]}


def _drawn(one: dict[str, Any], directory: str | Path | None) -> tuple[str, np.ndarray | None, np.ndarray]:
    problem, rounds, clients = ClientLabels(), range(one["rounds"]), one["clients"]
    problem.partition = Partition.load(one["file"]) if one["file"] else None
    if one["data"]:
        data, problem.partition = hold_out(load(one["data"], directory), problem.partition, one.get("validation", 0))
        problem.labels = data.y
    participants = PARTICIPATION.build(one["participation"]).bind(problem, clients, one["seed"])
    there = np.zeros((len(rounds), clients), bool)
    for t, row in enumerate(there):
        row[participants.active(t)] = True
    probabilities = [participants.probabilities(t) for t in rounds]
    known = None if probabilities[0] is None else np.array(probabilities)
    return labels.text(one["participation"], one), known, there
