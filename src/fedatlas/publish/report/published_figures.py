"""Figures of runs that a paper's authors published and that were not run here, for cards without results."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.federation import algorithms
from fedatlas.publish.report.headlines import PaperHeadlines
from fedatlas.publish.report.images import reduce_colours
from fedatlas.results.comparing.published import fedac_losses
from fedatlas.results.figures.description import Lines, describe_lines
from fedatlas.results.figures.drawing import save
from fedatlas.results.figures.renderer import render
from fedatlas.results.figures.style import styles

if TYPE_CHECKING:
    from pandas import DataFrame

WORKERS, INTERVALS = (8, 128, 1024, 2048), (1, 16, 64, 256)  # a panel for each
LIMITS = (1e-5, 1.0)  # nearer to the least published loss, its own distance from the optimum may decide


def draw(gallery: Path, papers: Iterable[PaperHeadlines]) -> dict[str, str]:
    """Draw the figures that headlines of papers name, and return their paths in the gallery by name."""
    paths = {}
    for name in [headline.figure for paper in papers for headline in paper.headlines.values()]:
        if name in FIGURES:
            paths[name] = f"{name}.png"
            path = gallery / paths[name]
            path.parent.mkdir(exist_ok=True)
            description, numbers = FIGURES[name]()
            save(render(description.to_dict(), numbers), path)
            path.write_bytes(reduce_colours(path))
    return paths


def _fedac_epsilon() -> tuple[Lines, "DataFrame"]:
    """Return Figures 6 (upper row) and 7 (lower row) of the FedAc paper, from the losses that its authors published."""
    import pandas as pd

    losses = fedac_losses()
    least = losses["loss"].min()
    losses = losses.assign(distance=losses["loss"] - least)
    panels = [("local_steps", K, "clients", "M") for K in INTERVALS]
    panels += [("clients", M, "local_steps", "K") for M in WORKERS]
    parts = [
        losses[losses[axis] == value].assign(
            panel=f"{labels.point(axis, value)}, against {letter}", x=lambda rows, x=x: rows[x]
        )
        for axis, value, x, letter in panels
    ]
    names = {name: algorithms.get(name).label for name in losses["algorithm"].unique()}
    description = Lines(
        x={"x": "number of workers $M$ (upper row) or synchronisation interval $K$ (lower row)"},
        y=("distance", f"loss above {least:.5f}, the least published"),
        lines=describe_lines(styles({name: name for name in names}), names),
        logx=True,
        logy=True,
        limits=LIMITS,
    )
    return description, pd.concat(parts, ignore_index=True)


FIGURES = {"published/fedac_epsilon": _fedac_epsilon}  # by the name that headlines have for them
