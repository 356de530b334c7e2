"""A metric over two axes, beside its closed form."""

import numpy as np

from fedatlas import labels
from fedatlas.errors import UserError
from fedatlas.figures import sheet as base
from fedatlas.registry import lookup
from fedatlas.theory.closed_forms import LIMITS, late, probabilities


@base.kind("heatmap", needs=("x", "rows"), takes=("y", "where", "algorithms", "after", "limit", "center"))
def heatmap(sheet):
    """Draw the mean of metric y over seeds and the rounds from ``after`` on, against axes x and rows.

    One panel for each algorithm, and before them one for the closed form ``limit``, if given. Colours part at
    ``center``.
    """
    import pandas as pd

    x, rows = sheet.spec["x"], sheet.spec["rows"]
    sheet.column(sheet.curves, x, rows, sheet.y)
    curves = sheet.rows(sheet.curves, free=(x, rows))
    means = late(curves, ["algorithm", rows, x], sheet.y, sheet.spec.get("after", 0))
    if means.empty:
        raise UserError(f"figure: there are no evaluations from round {sheet.spec['after']} on")
    means = means.groupby(level=["algorithm", rows, x]).mean()
    panels = {sheet.names[id]: means[id].unstack(x) for id in sheet.styles if id in means.index.levels[0]}
    if name := sheet.spec.get("limit"):
        panels = {
            "closed form": _closed(lookup("limit", name, LIMITS), sheet.about, next(iter(panels.values())))
        } | panels
    sheet.numbers = pd.concat({title: part.stack().rename(sheet.y) for title, part in panels.items()}, names=["panel"])
    sheet.numbers = sheet.numbers.reset_index()
    figure, axes = base.grid(len(panels))
    low, high = (float(end(sheet.numbers[sheet.y])) for end in (min, max))
    center = sheet.spec.get("center")
    if center is not None:
        reach = max(high - center, center - low)
        low, high = center - reach, center + reach
    for ax, (title, part) in zip(axes, panels.items(), strict=True):
        image = ax.imshow(part, origin="lower", aspect="auto", cmap=_shades(center is not None), vmin=low, vmax=high)
        ax.set_title(title)
        ax.grid(False)
        _ticks(ax.xaxis, part.columns)
        _ticks(ax.yaxis, part.index)
        if part.size <= 121:
            _write(ax, part.to_numpy(), low, high)
    base.label(axes, labels.axis(x, sheet.about), labels.axis(rows, sheet.about))
    bar = figure.colorbar(image, ax=axes, pad=0.02, aspect=24)
    bar.set_label(labels.metric(sheet.y))
    bar.outline.set_visible(False)
    base.foot(figure, f"Means over {sheet.seeds} seeds and the rounds from {sheet.spec.get('after', 0)} on.")
    return figure


def _closed(limit, about, like):
    axes = (like.columns.name, like.index.name)
    points = [[dict(zip(axes, (c, r), strict=True)) for c in like.columns] for r in like.index]
    values = [[limit(about["problem"], probabilities(about["setting"], point)) for point in row] for row in points]
    return type(like)(values, like.index, like.columns)


def _shades(two_sided):
    import seaborn as sns

    if two_sided:
        return sns.blend_palette(["#08306b", "#6aaed6", "#f7f7f7", "#f4a259", "#7f2704"], as_cmap=True)
    return sns.blend_palette(["#ffffff", "#cfe3f1", "#6aaed6", "#2171b5", "#08306b"], as_cmap=True)


def _ticks(axis, values):
    step = -(-len(values) // 6)
    axis.set_ticks(range(0, len(values), step), [labels.text(value) for value in values[::step]])
    axis.set_tick_params(length=0)


def _write(ax, values, low, high):
    """Whole numbers into the cells, light on dark."""
    for (row, column), value in np.ndenumerate(values):
        dark = abs(value - (low + high) / 2) > 0.3 * (high - low)
        ax.text(
            column, row, f"{value:.0f}", ha="center", va="center", fontsize=6.5, color="white" if dark else "#1a1a1a"
        )
