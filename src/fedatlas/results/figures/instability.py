"""How two runs from almost equal starts move apart (Yuan & Ma 2020, Theorem 4.2). No experiment has this figure."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.results.figures import layout, style
from fedatlas.results.figures.drawing import save, settings
from fedatlas.results.figures.text_fitting import fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw(frame: "DataFrame", path: str | Path) -> None:
    """Draw distances over eps against steps, one panel for each kappa, into a .svg, .png or .pdf file.

    frame: of `fedatlas.theory.fedac.instability.distances` or ``study``. Raises UserError if the file cannot be written.
    """
    with settings():
        figure = drawn(frame)
        fit(figure)
        save(figure, Path(path))


def drawn(frame: "DataFrame") -> "Figure":
    """The figure that `draw` writes."""
    from matplotlib.lines import Line2D

    from fedatlas.federation import algorithms

    names = {}
    for along, name in dict.fromkeys(zip(frame["along"], frame["algorithm"], strict=True)):
        label = algorithms.get(name).label + (" on its own $F$" if along == name != "agd" else "")
        names[along, name] = label
    looks = style.styles({entry: entry[1] for entry in names})
    kappas = sorted(frame["kappa"].unique())
    figure = layout.blank((3.15 * len(kappas) + 0.4, 3.1))
    axes = figure.subplots(1, len(kappas), squeeze=False)[0]
    for ax, kappa in zip(axes, kappas, strict=True):
        panel = frame[frame["kappa"] == kappa]
        for number, ((along, name), look) in enumerate(looks.items()):
            rows = panel[(panel["along"] == along) & (panel["algorithm"] == name)]
            every = max(1, len(rows) // 3 // 6) * 3
            shown = (number * every // len(looks) // 3 * 3, every)
            line: dict[str, Any] = {
                "color": look.colour,
                "linestyle": look.line,
                "zorder": look.layer,
                "linewidth": 1.3,
            }
            points: dict[str, Any] = {"marker": look.marker, "markersize": look.size - 0.7, "markevery": shown}
            ax.plot(rows["step"], rows["distance"] / rows["bound"].iloc[0], **line, **points)
        ax.plot(
            rows["step"],
            rows["bound"] / rows["bound"].iloc[0],
            color=layout.NOTE_COLOUR,
            linestyle=style.DASHED,
            zorder=2,
        )
        ax.set_yscale("log")
        ax.set_title(f"$κ$ = {kappa:g}")
        ax.set_xlabel("step $t$")
        ax.margins(x=0.02)
    axes[0].set_ylabel("distance of two runs / $ε$")
    handles = [
        Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker, label=names[id])
        for id, look in looks.items()
    ]
    handles.append(Line2D([], [], color=layout.NOTE_COLOUR, linestyle=style.DASHED, label="Theorem 4.2: $1.02^{t/3}$"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    intervals = " or ".join(map(str, sorted(frame["interval"].unique())))
    layout.foot(figure, f"FedAc: the coupling for {intervals} local steps a round.")
    return figure
