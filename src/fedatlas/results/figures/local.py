"""What an algorithm recorded of its local steps, such as step sizes (FedSPS, Figure 7)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.registry.options import option
from fedatlas.results.figures import layout, style
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.browser_chart import Chart, lines
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

BANDS = (  # column, in the legend, colour, opacity
    ("between", "± deviation across clients", style.SKY, 0.55),
    ("within", "± deviation within a client", style.ORANGE, 0.25),
)


@dataclass(frozen=True, kw_only=True)
class Local(PanelFigure, CostFigure):
    """The mean over clients and local steps of a recorded value against a cost, with its standard deviations.

    One band is the deviation across clients, the other that within a client.
    """

    name = "local"

    y: str = option("step_size", doc="recorded value", names="record")
    yscale: Scale = option("linear", doc="scale of the y-axis")

    def draw(self, data: FigureData) -> Drawing:
        from matplotlib.patches import Patch

        y, cost = self.y, self.cost
        data.column(data.curves, cost, f"{y}_mean")
        rows = data.rows(data.curves.dropna(subset=[f"{y}_mean"]))
        panels = data.panels(rows)
        figure, axes = layout.grid(len(panels), share_x=False)
        shown: list[tuple[str, str, DataFrame]] = []
        for ax, (title, part) in zip(axes, panels, strict=True):
            ax.set_title(title)
            if self.yscale == "log":
                ax.set_yscale("log")
            for id, look in data.styles.items():
                own = part[part["algorithm"] == id]
                curve = own.groupby("round")[[f"{y}_{name}" for name in ("mean", "within", "between")]].mean()
                at, mean = own.groupby("round")[cost].mean() if cost != "round" else curve.index, curve[f"{y}_mean"]
                points = curve.rename(columns=lambda name: name.removeprefix(f"{y}_")).assign(**{cost: at})
                shown.append((title, id, points.reset_index(drop=True)))
                for name, _, colour, alpha in BANDS:
                    apart = curve[f"{y}_{name}"]
                    ax.fill_between(at, mean - apart, mean + apart, color=colour, alpha=alpha, linewidth=0)
                ax.plot(at, mean, color=look.colour, linestyle=look.line, linewidth=1.4, zorder=look.layer)
            ax.margins(x=0.02)
            if not self.x.endswith("seconds"):
                ax.locator_params(axis="x", integer=True)
            ax.set_xlim(left=0)
        layout.label(axes, self.words, y.replace("_", " "))
        layout.legend(figure, data, [Patch(color=colour, alpha=alpha, label=text) for _, text, colour, alpha in BANDS])
        layout.foot(figure, "Of the last round before each evaluation.")
        numbers = data.tidy(shown)
        chart = Chart(
            x={cost: self.words},
            y=("mean", y.replace("_", " ")),
            lines=lines(data.styles, data.names),
            logy=self.yscale == "log",
            note="Mean over clients and local steps of the last round before each evaluation.",
        )
        return Drawing(figure, numbers, chart)
