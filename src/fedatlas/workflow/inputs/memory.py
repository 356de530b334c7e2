"""How many vectors clients keep from round to round."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.runs import create, runs
from fedatlas.experiments.view import View
from fedatlas.federation.algorithms.states import vectors_kept
from fedatlas.results.figures.base import Figure
from fedatlas.workflow.inputs import Results


def needed(figure: Figure, cells: Sequence[Cell]) -> dict[str, int]:
    """Vectors that a client keeps from round to round, by the algorithm's id."""
    return {cell.id: vectors_kept(create(next(runs(cell.spec)))[0]) for cell in cells}


def made(
    figure: Figure, view: View, needed: dict[str, int], results: Results, directory: str | Path | None
) -> dict[str, Any]:
    """``memory``: vectors that a client keeps, by the algorithm's id."""
    return {"memory": needed}
