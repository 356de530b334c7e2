"""The score against the values that a hyper-parameter was tried at (FedSPS, Figure 8)."""

from fedatlas import labels
from fedatlas.figures import sheet as base


@base.kind("sensitivity", needs=("x",), takes=("panel", "where", "algorithms", "yscale"))
def sensitivity(sheet):
    """Draw the score at every tried value of hyper-parameter x, best over the others; panel is an axis."""
    x = sheet.spec["x"]
    sheet.column(sheet.table, x)
    rows = sheet.rows(sheet.table[sheet.table[x].notna()])
    panels = sheet.panels(rows)
    figure, axes = base.grid(len(panels))
    values = sorted(rows[x].unique())
    goal = sheet.about["select"]["goal"]
    for ax, (title, part) in zip(axes, panels, strict=True):
        ax.set_title(title)
        if sheet.log:
            ax.set_yscale("log")
        if values[0] > 0 and values[-1] / values[0] >= 4:
            ax.set_xscale("log")
        for id, look in sheet.styles.items():
            scores = part[(part["algorithm"] == id) & (part["diverged"] == 0)].groupby(x)["score"].agg(goal)
            points = {"marker": look.marker, "markersize": look.size}
            ax.plot(scores.index, scores, color=look.colour, linestyle=look.line, zorder=look.layer, **points)
    sheet_y = labels.metric(sheet.about["select"]["metric"], sheet.about["select"]["statistic"])
    base.label(axes, labels.axis(x, sheet.about), sheet_y)
    base.legend(figure, sheet)
    base.foot(figure, "What diverged is left out." if (rows["diverged"] > 0).any() else "")
    return figure
