"""A metric against a cost: communication rounds, gradients, vectors sent, seconds."""

import numpy as np

from fedatlas import labels
from fedatlas.figures import sheet as base


@base.kind("convergence", needs=("x",), takes=("y", "panel", "where", "algorithms", "yscale", "xscale"))
def convergence(sheet):
    """Draw metric y of the chosen runs against cost x, one panel for each value of axis panel."""
    cost = "round" if sheet.spec["x"] == "rounds" else sheet.spec["x"]
    sheet.column(sheet.curves, cost, sheet.y)
    rows = sheet.rows(sheet.curves)
    panels = sheet.panels(rows)
    figure, axes = base.grid(len(panels), share_x=False)
    drawn, ends, cut = [], [], False
    for ax, (title, part) in zip(axes, panels, strict=True):
        ax.set_title(title)
        if sheet.log:
            ax.set_yscale("log")
        for number, (id, look) in enumerate(sheet.styles.items()):
            curve = average(part[part["algorithm"] == id], cost, sheet.y, sheet.seeds)
            if not len(curve):
                continue
            cut |= sheet.log and bool((curve["low"] < base.FLOOR).any())
            diverged = (part.loc[part["algorithm"] == id, "status"] == "diverged").any()
            _line(ax, curve, look, number, sheet)
            drawn.append(curve[:1] if diverged else curve)
            ends += [(ax, curve, look)] if diverged else []
        ax.margins(x=0.02)
        if sheet.spec.get("xscale") == "log":
            ax.set_xscale("symlog", linthresh=1)  # with 0, where all start
        elif cost != "seconds":
            ax.locator_params(axis="x", integer=True)
        ax.set_xlim(left=0)
    _limits(axes, drawn, sheet)
    for end in ends:
        _end(*end)
    base.label(axes, labels.COSTS[sheet.spec["x"]], labels.metric(sheet.y))
    base.legend(figure, sheet, [base.mark("diverged", marker="x")] if ends else ())
    base.foot(figure, sheet.note(), "Values below 10⁻¹⁶ are raised to it." if cut else "")
    return figure


def average(rows, cost, metric, seeds):
    """Mean and range over seeds at every evaluation that all seeds reached: columns x, y, low, high."""
    ok = rows[np.isfinite(rows[metric])]
    groups = ok.groupby("round", sort=True)
    curve = groups[metric].agg(y="mean", low="min", high="max", count="count")
    curve["x"] = groups[cost].mean() if cost != "round" else curve.index
    return curve[curve["count"] == min(seeds, rows["seed"].nunique())]


def _line(ax, curve, look, number, sheet):
    x, y, low, high = (curve[name].to_numpy(float) for name in ("x", "y", "low", "high"))
    if sheet.log:
        y, low, high = (np.maximum(values, base.FLOOR) for values in (y, low, high))
    if sheet.seeds > 1:
        ax.fill_between(x, low, high, color=look.colour, alpha=0.16, linewidth=0)
    step = max(1, len(x) // 8)
    shown = (number * step // max(1, len(sheet.styles)), step) if step > 1 else 1
    points = {"marker": look.marker, "markevery": shown, "markersize": look.size - 0.7}
    width = 1.7 if len(x) <= 60 else 1.3
    ax.plot(x, y, color=look.colour, linestyle=look.line, linewidth=width, zorder=look.layer, **points)


def _end(ax, curve, look):
    """A cross where a curve that diverged stops, or leaves the figure."""
    x, y = curve["x"].to_numpy(float), curve["y"].to_numpy(float)
    bottom, top = ax.get_ylim()
    last = int(np.argmax(y > top)) if (y > top).any() else len(y) - 1
    height = min(max(y[last], bottom), top)
    ax.plot(x[last], height, "x", color=look.colour, markersize=8, markeredgewidth=2, zorder=3, clip_on=False)


def _limits(axes, drawn, sheet):
    """Limits that hold every curve that did not diverge; those that did may leave the figure."""
    if not drawn:
        return
    values = np.concatenate([curve[["low", "high"]].to_numpy(float).ravel() for curve in drawn])
    if sheet.log:  # one lucky seed must not squeeze the means together
        lowest = min(curve["y"].min() for curve in drawn)
        values = np.maximum(values, max(base.FLOOR, lowest / 10))
    if bounds := base.limits(values, sheet.log):
        axes[0].set_ylim(*bounds)
