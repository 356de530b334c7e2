"""What it takes to attain targets, as a table: rounds or seconds to an accuracy (Sun et al. 2023, Tables 4 and 5)."""

import math

import numpy as np

from fedatlas import labels
from fedatlas.experiments.selection import attained
from fedatlas.figures import sheet as base

BEST, SECOND = "#b9d7ec", "#e3eff8"


@base.kind("targets", needs=("x", "targets"), takes=("y", "panel", "where", "algorithms"))
def targets(sheet):
    """Write for each algorithm the cost x at which the mean of metric y over seeds first attains each target."""
    cost = "round" if sheet.spec["x"] == "rounds" else sheet.spec["x"]
    sheet.column(sheet.curves, cost, sheet.y)
    panels = sheet.panels(sheet.rows(sheet.curves))
    columns = [(title, part, target) for title, part in panels for target in sheet.spec["targets"]]
    heads = [labels.number(target) for _, _, target in columns]
    values = np.array([[_cost(sheet, part, id, cost, target) for _, part, target in columns] for id in sheet.styles])
    if cost == "seconds":
        per_round = [[_per_round(part, id) for _, part in panels] for id in sheet.styles]
        values, heads = np.hstack([np.array(per_round), values]), [*["a round"] * len(panels), *heads]
        columns = [*((title, part, None) for title, part in panels), *columns]
    return _table(sheet, values, columns, heads)


def _cost(sheet, part, id, cost, target):
    """Mean cost over seeds in the first round that attains the target; inf if none does."""
    curve = part[part["algorithm"] == id]
    if curve.empty:
        return math.nan
    first = attained(curve, sheet.y, target, sheet.about["select"])
    return first if cost == "round" or math.isinf(first) else float(curve.loc[curve["round"] == first, cost].mean())


def _per_round(part, id):
    """Seconds a round of training, over the whole run and all seeds."""
    last = part[part["algorithm"] == id].groupby("seed").last()
    return float((last["seconds"] / last["round"]).mean()) if len(last) else math.nan


def _table(sheet, values, columns, heads):
    rows, count = values.shape
    figure = base.blank((1.6 + 0.85 * count, 1.15 + 0.27 * rows))
    ax = figure.subplots()
    ax.set(xlim=(-0.5, count - 0.5), ylim=(rows - 0.5, -0.5))
    for spine in ax.spines.values():
        spine.set_visible(False)
    for column in range(count):
        order = sorted(value for value in set(values[:, column]) if math.isfinite(value))
        for row in range(rows):
            value = values[row, column]
            place = order.index(value) if value in order else None
            if place in (0, 1):
                colour = (BEST, SECOND)[place]
                ax.fill_between([column - 0.47, column + 0.47], row - 0.45, row + 0.45, color=colour, linewidth=0)
            weight = "bold" if place == 0 else "normal"
            ax.text(column, row, _text(value), ha="center", va="center", fontsize=9, fontweight=weight)
    ax.set_yticks(range(rows), [sheet.names[id] for id in sheet.styles])
    ax.set_xticks(range(count), heads)
    ax.tick_params(length=0, labeltop=True, labelbottom=False, top=False, bottom=False)
    ax.grid(False)
    for title in dict.fromkeys(title for title, _, _ in columns if title):
        places = [at for at, (other, _, _) in enumerate(columns) if other == title]
        for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
            ax.annotate(
                title, (run.mean(), -0.5), (0, 19), textcoords="offset points", ha="center", va="bottom", fontsize=9
            )
    what = labels.COSTS[sheet.spec["x"]]
    seeds = f" (mean of {sheet.seeds} seeds)" if sheet.seeds > 1 else ""
    base.foot(figure, f"{what.capitalize()} until the {labels.words(sheet.y)}{seeds} first attains a target; – never.")
    return figure


def _text(value):
    if math.isnan(value):
        return ""
    return labels.number(value) if math.isfinite(value) else "–"
