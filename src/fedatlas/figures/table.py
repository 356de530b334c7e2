"""A table: algorithms by the values of an axis, mean and standard deviation over seeds."""

import math

from fedatlas import labels
from fedatlas.figures import sheet as base

ROW, HEAD = 0.27, 0.3  # inches


@base.kind("table", needs=("x",), takes=("metrics", "panel", "where", "algorithms", "memory"))
def table(sheet):
    """Tabulate metrics of the chosen runs: a row for each algorithm, columns for the values of axis x.

    metrics: by default the one that selects, by its statistic. panel: an axis with a block of rows for each value.
    memory: whether a column says how many vectors each client keeps from round to round.
    """
    x, metrics = sheet.spec["x"], sheet.spec.get("metrics", [sheet.y])
    sheet.column(sheet.curves, x, *metrics)
    rows = sheet.rows(sheet.curves, free=(x,))
    sheet.numbers = numbers = _numbers(sheet, rows, metrics)
    values, blocks = list(dict.fromkeys(rows[x])), sheet.panels(rows)
    memory = sheet.about["memory"] if sheet.spec.get("memory") else None
    heads = dict(zip(values, _short(x, values), strict=True))
    name_width = 0.35 + 0.075 * max(len(name) for name in sheet.names.values())
    widths = [max(1.02, 0.085 * len(heads[value]) / len(metrics)) for value in values for _ in metrics]
    width = name_width + sum(widths) + (0.85 if memory else 0)
    titled = [bool(title) for title, _ in blocks]
    height = 2 * HEAD + ROW * (len(blocks) * len(sheet.styles) + sum(titled)) + 0.45
    figure = base.blank((width, height))
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set(xlim=(0, width), ylim=(height - 0.3, 0))
    edges = [name_width + sum(widths[:n]) for n in range(len(widths) + 1)]
    for number, value in enumerate(values):
        left, right = edges[number * len(metrics)], edges[(number + 1) * len(metrics)]
        ax.text((left + right) / 2, HEAD / 2, heads[value], ha="center", va="center", fontweight="bold")
        for k, metric in enumerate(metrics):
            middle = sum(edges[number * len(metrics) + k :][:2]) / 2
            ax.text(middle, 1.5 * HEAD, labels.words(metric).removesuffix(" accuracy"), ha="center", va="center")
    if memory:
        ax.text(width - 0.42, HEAD, "vectors kept\nby a client", ha="center", va="center", fontsize=8.5)
    at = 2 * HEAD
    ax.axhline(at, color="#444444", linewidth=0.9)
    for title, part in blocks:
        if title:
            at += ROW
            ax.text(0.02, at - ROW / 2, title, va="center", style="italic")
        for id in sheet.styles:
            at += ROW
            ax.text(0.12 if title else 0.02, at - ROW / 2, sheet.names[id], va="center")
            for number, (value, metric) in enumerate((v, m) for v in values for m in metrics):
                cell = _cell(numbers, part, sheet, id, x, value, metric)
                middle = (edges[number] + edges[number + 1]) / 2
                ax.text(middle, at - ROW / 2, cell[0], ha="center", va="center", fontweight="bold" if cell[1] else None)
            if memory:
                ax.text(width - 0.42, at - ROW / 2, labels.text(memory[id]), ha="center", va="center")
        ax.axhline(at, color="#bbbbbb", linewidth=0.7)
    unit = "Percent; " if all("accuracy" in metric for metric in metrics) else ""
    spread = f"mean ± standard deviation over {sheet.seeds} seeds" if sheet.seeds > 1 else "one seed"
    best = "The best means are bold." if len(sheet.styles) > 1 else ""
    base.foot(figure, f"{unit}{sheet.about['select']['statistic']} values, {spread}.", best)
    return figure


def _numbers(sheet, rows, metrics):
    """Tidy means and deviations: a row for each algorithm, point of the axes and metric."""
    import pandas as pd

    axes, statistic = sheet.about["axes"], sheet.about["select"]["statistic"]
    found = []
    for metric in metrics:
        runs = rows[rows["round"] > 0].groupby(["algorithm", *axes, "seed"], sort=False)
        best = "max" if "accuracy" in metric else "min"
        each = runs[metric].agg("last" if statistic == "final" else best)
        each = each.where(runs["status"].last() != "diverged")
        seeds = each.groupby(level=["algorithm", *axes], sort=False)
        part = pd.DataFrame(
            {"mean": seeds.agg(lambda v: v.mean(skipna=False)), "sd": seeds.std(), "seeds": seeds.size()}
        )
        found.append(part.reset_index().assign(metric=metric))
    numbers = pd.concat(found, ignore_index=True)
    if sheet.spec.get("memory"):
        numbers["memory"] = numbers["algorithm"].map(sheet.about["memory"])
    return numbers


def _cell(numbers, part, sheet, id, x, value, metric):
    """(text, whether it is the best of its column)."""
    block = numbers[(numbers[x] == value) & (numbers["metric"] == metric)]
    if panel := sheet.spec.get("panel"):
        block = block[block[panel] == part[panel].iloc[0]]
    row = block[block["algorithm"] == id]
    if row.empty:
        return "", False
    mean, sd = float(row["mean"].iloc[0]), float(row["sd"].iloc[0])
    if not math.isfinite(mean):
        return "diverged", False
    accurate = "accuracy" in metric
    text, spread = (f"{100 * mean:.1f}", f"{100 * sd:.1f}") if accurate else (labels.number(mean), labels.number(sd, 2))
    best = len(block) > 1 and mean == (block["mean"].max() if accurate else block["mean"].min())
    return (f"{text} ± {spread}" if math.isfinite(sd) else text), best


def _short(axis, values):
    """Values for heads, without the options that all specifications share."""
    parsed = [labels.parsed(value) for value in values]
    if len(parsed) < 2 or not all(isinstance(value, dict) for value in parsed):
        return [labels.point(axis, value) for value in values]
    shared = {k for k, v in parsed[0].items() if all(other.get(k) == v for other in parsed)}
    return [labels.text({k: v for k, v in value.items() if k not in shared}) for value in parsed]
