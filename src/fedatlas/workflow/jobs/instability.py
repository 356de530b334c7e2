"""The study of Theorem 4.2 of FedAc."""

from collections.abc import Sequence
from pathlib import Path

from fedatlas.io import csv
from fedatlas.results.figures.instability import draw
from fedatlas.theory.fedac.instability import study


def make(paths: Sequence[str]) -> None:
    """Write the distances of the runs as CSV, and the figure in other formats. The first path is written last."""
    frame = study()
    for path in reversed([Path(path) for path in paths]):
        if path.suffix == ".csv":
            csv.write(path, frame)
        else:
            draw(frame, path)
