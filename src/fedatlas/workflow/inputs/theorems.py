"""Bounds of the theorems on FedAc in the settings of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.results.figures.base import Figure
from fedatlas.theory.fedac.bounds import add_bounds
from fedatlas.workflow.inputs import ResultTables


def specify(figure: Figure, cells: Sequence[Cell]) -> None:
    """Return nothing, because the view holds the settings."""


def build(
    figure: Any, view: ExperimentView, spec: None, results: ResultTables, directory: str | Path | None
) -> dict[str, Any]:
    """Return the table with the column ``bound``."""
    return {"table": add_bounds(view, figure.theorems, results.table, directory)}
