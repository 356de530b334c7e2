"""What some figures and checks need besides table and curves, by the names in `fedatlas.results.figures.base.Figure.inputs`.

Each name has a module here. Its ``needed(figure, cells)`` says it as JSON types when the workflow's graph is built; its
``made(figure, view, needed, results, directory)`` turns that into arguments of `fedatlas.results.figures.drawing.draw` in the
figure's job. Modules are loaded by name: a figure depends on those that it asks for.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.view import View

if TYPE_CHECKING:
    from fedatlas.results.claims.base import Check
    from fedatlas.results.figures.base import Figure


class Results(NamedTuple):
    """What a figure's job has of the results. table, curves: DataFrames, or None where the figure draws no results.
    folder: of the experiment's results."""

    table: Any = None
    curves: Any = None
    folder: Path = Path()


def modules(figure: "Figure") -> list[str]:
    """Full names of the modules of a figure's inputs."""
    return [f"{__name__}.{name}" for name in sorted(figure.inputs)]


def needed(figure: "Figure", cells: Sequence[Cell]) -> dict[str, Any]:
    """What a figure needs of an experiment's cells, as JSON types, by the name of the input."""
    return {name: _module(name).needed(figure, cells) for name in sorted(figure.inputs)}


def timed(checks: "Sequence[Check]", cells: Sequence[Cell]) -> dict[str, Any]:
    """What checks need of an experiment's cells if one is of simulated time, as `needed` says it of a figure."""
    return {SIMULATED: _module(SIMULATED).files(cells)} if any(SIMULATED in one.inputs for one in checks) else {}


def made(
    asked: "Figure | Check", view: View, needed: dict[str, Any], results: Results, directory: str | Path | None = None
) -> dict[str, Any]:
    """Arguments for drawing a figure or judging a check: table and curves, and what the inputs are made into.

    needed: from the function of that name, or from `timed`. directory: of the prepared data.
    """
    found = {"table": results.table, "curves": results.curves}
    for name, one in needed.items():
        results = results._replace(**{key: found[key] for key in ("table", "curves")})
        found |= _module(name).made(asked, view, one, results, directory)
    return found


def _module(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")
