"""Figures of runs that a paper's authors published and that were not run here, for cards without results."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.federation import algorithms
from fedatlas.publish.report.images import reduce_colours
from fedatlas.results.comparing.published import fedac_losses
from fedatlas.results.figures import layout
from fedatlas.results.figures.drawing import save, settings
from fedatlas.results.figures.style import WIDTH, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORKERS, INTERVALS = (8, 128, 1024, 2048), (1, 16, 64, 256)  # a panel for each
LIMITS = (1e-5, 1)  # nearer to the least published loss, its own distance from the optimum may decide


def draw(gallery: Path, names: Iterable[str]) -> dict[str, str]:
    """Draw those of the figures that are named, and return their paths in the gallery by name."""
    paths = {}
    for name in names:
        if name in FIGURES:
            paths[name] = f"{name}.png"
            path = gallery / paths[name]
            path.parent.mkdir(exist_ok=True)
            with settings():
                save(FIGURES[name](), path)
            path.write_bytes(reduce_colours(path))
    return paths


def _fedac_epsilon() -> "Figure":
    """Return Figures 6 (upper row) and 7 (lower row) of the FedAc paper, from the losses that its authors published."""
    losses = fedac_losses()
    least = losses["loss"].min()
    losses = losses.assign(distance=losses["loss"] - least)
    looks = styles({name: name for name in losses["algorithm"].unique()})
    figure, axes = layout.grid(len(WORKERS) + len(INTERVALS), share_x=False)
    upper, lower = axes[: len(INTERVALS)], axes[len(INTERVALS) :]
    panels = [("local_steps", K, "clients") for K in INTERVALS] + [("clients", M, "local_steps") for M in WORKERS]
    for ax, (axis, value, x) in zip(axes, panels, strict=True):
        _prepare(ax, f"${'K' if axis == 'local_steps' else 'M'} = {value}$")
        for name, line in losses[losses[axis] == value].groupby("algorithm", sort=False):
            look = looks[name]
            ax.plot(line[x], line["distance"], **(look.properties | {"linewidth": WIDTH}))
    for row, words in ((upper, "number of workers $M$"), (lower, "synchronisation interval $K$")):
        for ax in row:
            ax.set_xlabel(words)
            ax.tick_params(labelbottom=True)
    figure.supylabel(f"loss above {least:.5f}, the least published", fontsize=axes[0].xaxis.label.get_fontsize())
    layout.legend(figure, looks, {name: algorithms.get(name).label for name in looks})
    return figure


def _prepare(ax: "Axes", title: str) -> None:
    ax.set_title(title)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_ylim(LIMITS)


FIGURES = {"published/fedac_epsilon": _fedac_epsilon}  # by the name that headlines have for them
