from dataclasses import dataclass

from extensions.max_norm import MAX_NORM

from fedatlas import AlgorithmFigure, Drawing, FigureData, labels, layout, option


@dataclass(frozen=True, kw_only=True)
class Bars(AlgorithmFigure):
    """The score of each algorithm with its chosen values, as a bar."""

    name = "bars"

    width: float = option(0.8, doc="width of a bar; bars of width 1 touch", above=0, high=1)

    def draw(self, data: FigureData) -> Drawing:
        rows = data.rows(data.table[data.table["chosen"]])
        figure, (ax,) = layout.grid(1)
        ax.set_title(MAX_NORM.words)
        for id, style in data.styles.items():
            score = rows.loc[rows["algorithm"] == id, "score"]
            ax.bar(data.names[id], score, self.width, color=style.colour)
        layout.label([ax], "algorithm", labels.quantity(data.y, data.view.select.statistic))
        return Drawing(figure)
