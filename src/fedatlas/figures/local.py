"""What an algorithm noted of its local steps, such as step sizes (FedSPS, Figure 7)."""

from fedatlas import labels
from fedatlas.figures import sheet as base
from fedatlas.figures import style

BANDS = (  # column, in the legend, colour, opacity
    ("between", "± deviation across clients", style.SKY, 0.55),
    ("within", "± deviation within a client", style.ORANGE, 0.25),
)


@base.kind("local", needs=("x",), takes=("y", "panel", "where", "algorithms", "yscale"))
def local(sheet):
    """Draw the mean over clients and local steps of a recorded value y against cost x, with the standard deviations
    across clients and within a client."""
    from matplotlib.patches import Patch

    y, cost = sheet.spec.get("y", "step_size"), "round" if sheet.spec["x"] == "rounds" else sheet.spec["x"]
    sheet.column(sheet.curves, cost, f"{y}_mean")
    rows = sheet.rows(sheet.curves.dropna(subset=[f"{y}_mean"]))
    panels = sheet.panels(rows)
    figure, axes = base.grid(len(panels), share_x=False)
    for ax, (title, part) in zip(axes, panels, strict=True):
        ax.set_title(title)
        if sheet.spec.get("yscale") == "log":
            ax.set_yscale("log")
        for id, look in sheet.styles.items():
            own = part[part["algorithm"] == id]
            curve = own.groupby("round")[[f"{y}_{name}" for name in ("mean", "within", "between")]].mean()
            at, mean = own.groupby("round")[cost].mean() if cost != "round" else curve.index, curve[f"{y}_mean"]
            for name, _, colour, alpha in BANDS:
                apart = curve[f"{y}_{name}"]
                ax.fill_between(at, mean - apart, mean + apart, color=colour, alpha=alpha, linewidth=0)
            ax.plot(at, mean, color=look.colour, linestyle=look.line, linewidth=1.4, zorder=look.layer)
        ax.margins(x=0.02)
        if cost != "seconds":
            ax.locator_params(axis="x", integer=True)
        ax.set_xlim(left=0)
    base.label(axes, labels.COSTS[sheet.spec["x"]], y.replace("_", " "))
    base.legend(figure, sheet, [Patch(color=colour, alpha=alpha, label=text) for _, text, colour, alpha in BANDS])
    base.foot(figure, "Of the last round before each evaluation.")
    return figure
