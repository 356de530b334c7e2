"""Optima of problems, which are computed once."""

from pathlib import Path

from fedatlas import problems
from fedatlas.experiments.cells import Spec


def solve(problem: Spec, clients: int, out: str | Path, directory: str | Path | None = None) -> None:
    """Solve a problem and keep its Optimum in a .npz file.

    directory: of the prepared data. Raises UserError where there is no solver.
    """
    problems.create(problem, clients, directory).solve().save(out)
