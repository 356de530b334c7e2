"""Partitions of an experiment, for figures of who holds which samples."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.prepared import load
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.view import View
from fedatlas.federation.partitions import is_split
from fedatlas.federation.partitions.partition import Partition
from fedatlas.results.figures.base import Figure
from fedatlas.workflow.inputs import Results
from fedatlas.workflow.made_files import partition_file


def needed(figure: Figure, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The partitions of the cells, each once: how, of which data, in which file."""
    found = {}
    for cell in cells:
        problem = cell.spec.problem
        if is_split(problem.get("partition")):
            path, _ = partition_file(cell.spec)
            found[path] = {"partition": problem["partition"], "data": problem["data"], "file": path}
    return list(found.values())


def made(
    figure: Figure, view: View, needed: list[dict[str, Any]], results: Results, directory: str | Path | None
) -> dict[str, Any]:
    """``partitions``: (title, samples of each class at each client (clients, classes)) of each."""
    several = len({one["data"] for one in needed}) > 1
    return {"partitions": [(_title(one, several), _histogram(one, directory)) for one in needed]}


def _title(one: dict[str, Any], several: bool) -> str:
    """How data are split, and which they are if there are several."""
    return (f"{labels.text(one['data'])}, " if several else "") + labels.text(one["partition"])


def _histogram(one: dict[str, Any], directory: str | Path | None) -> np.ndarray:
    data = load(one["data"], directory)
    return Partition.load(one["file"]).histogram(data.y, data.classes)
