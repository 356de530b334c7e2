"""How similar the clients of an experiment's problems are, for tables of constants."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.view import View
from fedatlas.federation import problems
from fedatlas.federation.partitions import is_split
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.base import Optimum
from fedatlas.results.figures.base import Figure
from fedatlas.theory.similarity import constants
from fedatlas.workflow.inputs import Results
from fedatlas.workflow.made_files import optimum_file, partition_file


def needed(figure: Figure, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The problems of the cells, each once: their specification, title, clients, and files of partition and optimum.

    Raises UserError where the number of clients varies inside run files.
    """
    found: dict[str, dict[str, Any]] = {}
    for cell in cells:
        spec, clients = cell.spec, cell.spec.setting.get("clients")
        if "clients" in spec.within:
            raise UserError(f"{figure.title()}: the number of clients varies inside run files; make it an axis of grid")
        axes = [axis for axis in cell.point if axis == "clients" or axis.startswith("problem.")]
        found.setdefault(
            json.dumps([spec.problem, clients], sort_keys=True),
            {
                "problem": spec.problem,
                "clients": clients,
                "title": labels.setting(cell.point, axes),
                "partition": partition_file(spec)[0] if is_split(spec.problem.get("partition")) else None,
                "optimum": optimum_file(spec)[0] if spec.optimum else None,
            },
        )
    return list(found.values())


def made(
    figure: Figure, view: View, needed: list[dict[str, Any]], results: Results, directory: str | Path | None
) -> dict[str, Any]:
    """``dissimilarities``: (title, Similarity) of each problem."""
    return {"dissimilarities": [(one["title"], _constants(one, directory)) for one in needed]}


def _constants(one: dict[str, Any], directory: str | Path | None) -> Any:
    split = Partition.load(one["partition"]) if one["partition"] else None
    problem = problems.create(one["problem"], one["clients"], directory, split)
    problem.optimum = Optimum.load(one["optimum"]) if one["optimum"] else problem.optimum
    return constants(problem, one["clients"])[0]
