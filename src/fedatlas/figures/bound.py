"""What a theorem bounds, and the bound drawn over it."""

import numpy as np

from fedatlas import labels
from fedatlas.figures import sheet as base
from fedatlas.theory import comparison as bounds


@base.kind("bound", needs=("theorem",), takes=("panel", "where", "algorithms"))
def bound(sheet):
    """Draw the measured quantity of a theorem, mean and range over seeds, and its bound, which falls with rounds or
    iterations: on average over seeds where their numbers of iterations differ."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullFormatter

    theorem = bounds.theorem(sheet.spec["theorem"])
    panels = sheet.panels(sheet.rows(sheet.curves))
    figure, axes = base.grid(len(panels), share_x=False)
    for ax, (title, part) in zip(axes, panels, strict=True):
        ax.set_title(title)
        ax.set_yscale("log")
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
        for id, look in sheet.styles.items():
            rows = part[part["algorithm"] == id]
            if rows.empty:
                continue
            found = list(bounds.runs(sheet.about, sheet.spec["theorem"], id, rows))
            count, measured, limit = (np.stack([run[k] for run in found]) for k in (1, 2, 3))
            measured, x = np.maximum(measured, base.FLOOR), count.mean(axis=0)
            ax.fill_between(x, measured.min(axis=0), measured.max(axis=0), color=look.colour, alpha=0.16, linewidth=0)
            marked = np.unique(np.geomspace(1, len(x), 9).astype(int) - 1).tolist()
            drawn = {"color": look.colour, "linestyle": look.line, "marker": look.marker, "markersize": look.size}
            ax.plot(x, measured.mean(axis=0), zorder=look.layer, markevery=marked, **drawn)
            ax.plot(
                x,
                np.maximum(limit.mean(axis=0), base.FLOOR),
                color=base.NOTE_COLOUR,
                linestyle=base.DOTS,
                linewidth=1.4,
            )
    base.label(axes, labels.COSTS["rounds"] if theorem.counts == "round" else "iterations $K$", theorem.quantity)
    handle = Line2D([], [], color=base.NOTE_COLOUR, linestyle=base.DOTS, linewidth=1.4)
    handle.set_label(f"bound of Theorem {theorem.name}")
    base.legend(figure, sheet, [handle])
    base.foot(figure, sheet.note())
    return figure
