"""Distance of two runs from almost equal starts (Yuan & Ma 2020, Theorem 4.2). No experiment has this figure."""

from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.results.figures import layout
from fedatlas.results.figures.drawing import save, settings
from fedatlas.results.figures.style import DASHED, styles
from fedatlas.results.figures.text_fitting import fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw(frame: "DataFrame", path: str | Path) -> None:
    """Draw distances over eps against steps, one panel for each kappa, into a .svg, .png or .pdf file.

    Args:
        frame: Result of `fedatlas.theory.fedac.instability.distances` or ``study``.
        path: Path of the file.

    Raises:
        UserError: The file cannot be written.
    """
    with settings():
        figure = create_figure(frame)
        fit(figure)
        save(figure, Path(path))


def create_figure(frame: "DataFrame") -> "Figure":
    """Return the figure that `draw` writes."""
    from fedatlas.federation import algorithms

    names = {}
    for along, name in dict.fromkeys(zip(frame["along"], frame["algorithm"], strict=True)):
        suffix = " on its own $F$" if along == name != "agd" else ""
        names[along, name] = algorithms.get(name).label + suffix
    line_styles = styles({entry: entry[1] for entry in names})
    kappas = sorted(frame["kappa"].unique())
    figure = layout.empty_figure((3.15 * len(kappas) + 0.4, 3.1))
    axes = figure.subplots(1, len(kappas), squeeze=False)[0]
    for ax, kappa in zip(axes, kappas, strict=True):
        panel = frame[frame["kappa"] == kappa]
        for number, ((along, name), style) in enumerate(line_styles.items()):
            rows = panel[(panel["along"] == along) & (panel["algorithm"] == name)]
            period = max(1, len(rows) // 3 // 6) * 3  # the coupling resets every three steps
            marked = (number * period // len(line_styles) // 3 * 3, period)
            properties = style.properties | {"linewidth": 1.3, "markersize": style.size - 0.7}
            ax.plot(rows["step"], rows["distance"] / rows["bound"].iloc[0], markevery=marked, **properties)
        bound = rows["bound"] / rows["bound"].iloc[0]
        ax.plot(rows["step"], bound, color=layout.NOTE_COLOUR, linestyle=DASHED, zorder=2)
        ax.set_yscale("log")
        ax.set_title(f"$κ$ = {kappa:g}")
        ax.set_xlabel("step $t$")
        ax.margins(x=0.02)
    axes[0].set_ylabel("distance of two runs / $ε$")
    handles = [layout.line_handle(style, names[entry]) for entry, style in line_styles.items()]
    handles.append(layout.note_handle("Theorem 4.2: $1.02^{t/3}$", linestyle=DASHED))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    intervals = " or ".join(map(str, sorted(frame["interval"].unique())))
    layout.add_notes(figure, f"FedAc: the coupling for {intervals} local steps a round.")
    return figure
