"""What theorems of FedAc promise in the settings of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.view import View
from fedatlas.results.figures.base import Figure
from fedatlas.theory.promises import promise
from fedatlas.workflow.inputs import Results


def needed(figure: Figure, cells: Sequence[Cell]) -> None:
    """Nothing, because the view holds the settings."""


def made(figure: Any, view: View, needed: None, results: Results, directory: str | Path | None) -> dict[str, Any]:
    """The table with the column ``bound``."""
    return {"table": promise(view, figure.theorems, results.table, directory)}
