"""Memory of clients: vectors that they keep from round to round."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.runs import create, runs
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.engine.steps import call
from fedatlas.results.figures.base import Figure
from fedatlas.workflow.inputs import ResultTables

CLIENTS = 2  # of the start that is tried
DIM = 3  # of the start that is tried: no state of clients has this length by chance


def client_vectors(algorithm: Algorithm) -> int:
    """Return the number of vectors of the model's size in the first State of a client."""
    _, client = call(algorithm.init, np.zeros(DIM), CLIENTS)
    return sum(np.shape(value) == (DIM,) for _, value in client.items())


def specify(figure: Figure, cells: Sequence[Cell]) -> dict[str, int]:
    """Return the number of vectors that a client keeps from round to round, by the algorithm's id."""
    return {cell.id: client_vectors(create(next(runs(cell.spec)))[0]) for cell in cells}


def build(
    figure: Figure, view: ExperimentView, spec: dict[str, int], results: ResultTables, directory: str | Path | None
) -> dict[str, Any]:
    """Return ``memory``: vectors that a client keeps, by the algorithm's id."""
    return {"memory": spec}
