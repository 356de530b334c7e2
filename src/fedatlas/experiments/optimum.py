"""Optima of problems: solved once, kept in a file."""

from pathlib import Path
from typing import Any

import numpy as np

from fedatlas import problems
from fedatlas.experiments.cells import Spec
from fedatlas.files import atomic
from fedatlas.problems.base import Optimum


def solve(problem: Spec, clients: int, out: str | Path, directory: str | Path | None = None) -> None:
    """Solve a problem and keep its Optimum in a .npz file.

    directory: of the prepared data. Raises UserError where there is no solver.
    """
    found: Any = problems.create(problem, clients, directory).solve()
    with atomic(out) as temporary, open(temporary, "wb") as file:
        np.savez(file, F=found.F, x=found.x, gap=found.gap)


def load(path: str | Path) -> Optimum:
    """The Optimum that ``solve`` kept."""
    with np.load(path) as saved:
        return Optimum(float(saved["F"]), saved["x"], float(saved["gap"]))
