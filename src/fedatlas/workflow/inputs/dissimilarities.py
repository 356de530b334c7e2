"""Dissimilarity of the clients of an experiment's problems, for tables of constants."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.federation import problems
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems import instances
from fedatlas.federation.problems.optimum import Optimum
from fedatlas.results.figures.base import Figure
from fedatlas.theory.fedred.constants import fedred_constants
from fedatlas.workflow.inputs import ResultTables
from fedatlas.workflow.shared_files import optimum_file, partition_path


def specify(figure: Figure, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the different problems of the cells: specification, title, clients, files of partition and optimum.

    Raises:
        UserError: The number of clients varies inside run files, or the problem varies with the seed.
    """
    specs: dict[str, dict[str, Any]] = {}
    for cell in cells:
        spec, clients = cell.spec, cell.spec.setting.get("clients")
        if "clients" in spec.within:
            raise UserError(f"{figure.title()}: the number of clients varies inside run files; make it an axis of grid")
        if instances.varies_by_seed(spec.problem):
            raise UserError(f"{figure.title()}: each seed has a problem of its own; give instance a number")
        axes = [axis for axis in cell.point if axis == "clients" or axis.startswith("problem.")]
        specs.setdefault(
            json.dumps([spec.problem, clients], sort_keys=True),
            {
                "problem": spec.problem,
                "clients": clients,
                "title": labels.setting(cell.point, axes),
                "partition": partition_path(spec),
                "optimum": optimum_file(spec)[0] if spec.optimum else None,
            },
        )
    return list(specs.values())


def build(
    figure: Figure,
    view: ExperimentView,
    spec: list[dict[str, Any]],
    results: ResultTables,
    directory: str | Path | None,
) -> dict[str, Any]:
    """Return ``dissimilarities``: (title, FedRedConstants) of each problem."""
    dissimilarities = []
    for entry in spec:
        split = Partition.load(entry["partition"]) if entry["partition"] else None
        problem = problems.create(entry["problem"], entry["clients"], directory, split)
        problem.optimum = Optimum.load(entry["optimum"]) if entry["optimum"] else problem.optimum
        dissimilarities.append((entry["title"], fedred_constants(problem, entry["clients"])[0]))
    return {"dissimilarities": dissimilarities}
