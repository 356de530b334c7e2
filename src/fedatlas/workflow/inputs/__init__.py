"""Inputs of figures and checks beyond table and curves, by the names in `Figure.inputs`.

Each input is a module here with two functions. ``specify(figure, cells)`` describes the input as JSON types when the
workflow's graph is built; ``build(figure, view, spec, results, directory)`` turns that into arguments of
`fedatlas.results.figures.renderer.draw` in the figure's job. Modules are imported by name, so that a figure depends on
its own inputs alone.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.view import ExperimentView

if TYPE_CHECKING:
    from fedatlas.results.claims import Check
    from fedatlas.results.figures import Figure


class ResultTables(NamedTuple):
    """The results that a figure's job reads.

    Attributes:
        table: DataFrame of scores, or None where the figure draws no results.
        curves: DataFrame of evaluations, or None alike.
        folder: Folder of the experiment's results.
    """

    table: Any = None
    curves: Any = None
    folder: Path = Path()


def specify(figure: "Figure", cells: Sequence[Cell]) -> dict[str, Any]:
    """Return a figure's inputs for an experiment's cells as JSON types, by the name of the input."""
    return {name: _module(name).specify(figure, cells) for name in sorted(figure.inputs)}


def specify_checks(checks: "Sequence[Check]", cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the inputs of checks as `specify` does; empty unless a check reads simulated time."""
    if not any(SIMULATED in check.inputs for check in checks):
        return {}
    return {SIMULATED: _module(SIMULATED).files(cells)}


def build(
    kind: "Figure | Check",
    view: ExperimentView,
    specs: dict[str, Any],
    results: ResultTables,
    directory: str | Path | None = None,
) -> dict[str, Any]:
    """Return the arguments for drawing a figure or judging a check: table, curves and the built inputs.

    Args:
        kind: The figure or check.
        view: View of the experiment.
        specs: Result of `specify` or `specify_checks`.
        results: The experiment's results.
        directory: Folder of the prepared data.
    """
    arguments = {"table": results.table, "curves": results.curves}
    for name, spec in specs.items():
        results = results._replace(table=arguments["table"], curves=arguments["curves"])
        arguments |= _module(name).build(kind, view, spec, results, directory)
    return arguments


def _module(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")
