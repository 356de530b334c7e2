"""Partitions of an experiment: samples of each class at each client."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.data.dataset import load_prepared
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.dependencies import partition_path
from fedatlas.experiments.view import ExperimentView
from fedatlas.federation.partitions import is_by_owner
from fedatlas.federation.partitions.partition import Partition
from fedatlas.results.figures import Figure
from fedatlas.workflow.inputs import ResultTables


def specify(figure: Figure, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the different partitions of the cells: their specification, data set and file."""
    specs = {}
    for cell in cells:
        problem = cell.spec.problem
        if path := partition_path(cell.spec):
            specs[path] = {"partition": problem["partition"], "data": problem["data"], "file": path}
    return list(specs.values())


def build(
    figure: Figure,
    view: ExperimentView,
    spec: list[dict[str, Any]],
    results: ResultTables,
    directory: str | Path | None,
) -> dict[str, Any]:
    """Return ``partitions``: (title, samples of each class at each client (clients, classes)) of each partition.

    The index of the samples is the names that the data give their clients; otherwise clients are numbered.
    """
    import pandas as pd

    several_sets = len({partition["data"] for partition in spec}) > 1
    histograms = []
    for partition in spec:
        data = load_prepared(partition["data"], directory)
        title = (f"{labels.text(partition['data'])}, " if several_sets else "") + labels.text(partition["partition"])
        counts = Partition.load(partition["file"]).histogram(data.y, data.classes)
        names = data.client_names if is_by_owner(partition["partition"]) else None
        histograms.append((title, pd.DataFrame(counts, index=names)))
    return {"partitions": histograms}
