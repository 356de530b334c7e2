"""Participation in the rounds of an experiment's runs, repeated from their specifications and seeds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.data.dataset import load_prepared
from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Cell, Run
from fedatlas.experiments.dependencies import partition_path
from fedatlas.experiments.runs import create, runs
from fedatlas.experiments.view import ExperimentView, select_points
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import is_by_owner
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.base import ClientLabels
from fedatlas.federation.problems.rows import hold_out
from fedatlas.results.figures import Figure
from fedatlas.workflow.inputs import ResultTables

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_PANELS = 6  # columns that a reader can distinguish


def specify(figure: Figure, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the different participations of the runs that a figure keeps, with the first seed of each.

    Raises:
        UserError: There are none, or more than a figure can hold.
    """
    points: dict[str, tuple[dict[str, Any], Cell, Run]] = {}
    for cell in cells:
        for run in runs(cell.spec):
            axes = {**cell.point, **run.within}
            points.setdefault(json.dumps(axes), (axes, cell, run))
    candidates = list(points.values())
    specs: dict[str, dict[str, Any]] = {}
    for index in select_points([axes for axes, _, _ in candidates], getattr(figure, "where", None)):
        _, cell, run = candidates[index]
        key = [run.setting.get("participation"), run.problem.get("data"), run.problem.get("partition")]
        specs.setdefault(json.dumps(key), _participation(run, partition_path(cell.spec)))
    if not 1 <= len(specs) <= MAX_PANELS:
        raise UserError(f"where keeps {len(specs)} participations; keep 1 to {MAX_PANELS}")
    return list(specs.values())


def _participation(run: Run, file: str | None) -> dict[str, Any]:
    """Return the values that a run's participation depends on; file is that of the partition."""
    _, setting = create(run)
    spec = {
        "participation": setting.participation,
        "clients": setting.clients,
        "rounds": setting.total_rounds,
        "seed": run.seed,
        "data": run.problem.get("data"),
        "file": file,
    }
    spec |= {"by_owner": True} if is_by_owner(run.problem.get("partition")) else {}
    return spec | {key: share for key in ("test_share", "validation") if (share := run.problem.get(key))}


def build(
    figure: Figure,
    view: ExperimentView,
    spec: list[dict[str, Any]],
    results: ResultTables,
    directory: str | Path | None,
) -> dict[str, Any]:
    """Return ``availability``: title and active clients (rounds, clients) of each participation.

    The columns are the names that the data give them; otherwise clients are numbered.
    """
    return {"availability": [_simulate(participation, directory) for participation in spec]}


def _simulate(spec: dict[str, Any], directory: str | Path | None) -> "tuple[str, DataFrame]":
    import pandas as pd

    problem, clients = ClientLabels(), spec["clients"]
    problem.partition = Partition.load(spec["file"]) if spec["file"] else None
    names = None
    if spec["data"]:
        shares = {part: spec.get(key, 0) for part, key in (("test", "test_share"), ("validation", "validation"))}
        data, problem.partition, _ = hold_out(load_prepared(spec["data"], directory), problem.partition, shares)
        problem.labels = data.y
        names = data.client_names if spec.get("by_owner") else None
    participants = PARTICIPATION.build(spec["participation"]).bind(problem, clients, spec["seed"])
    active = np.zeros((spec["rounds"], clients), bool)
    for t, row in enumerate(active):
        row[participants.active(t)] = True
    return labels.text(spec["participation"]), pd.DataFrame(active, columns=names)
