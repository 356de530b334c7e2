from dataclasses import dataclass

from extensions.max_norm import MAX_NORM

from fedatlas import AlgorithmFigure, Drawing, FigureData, Lines, describe_lines, labels, option


@dataclass(frozen=True, kw_only=True)
class Bars(AlgorithmFigure):
    """The score of each algorithm with its chosen values, as a bar."""

    name = "bars"

    log: bool = option(False, doc="whether the scale of the scores is logarithmic")

    def draw(self, data: FigureData) -> Drawing:
        rows = data.rows(data.table[data.table["chosen"]])
        description = Lines(
            x={"algorithm": "algorithm"},
            y=("score", labels.quantity(data.y, data.view.select.statistic)),
            lines=describe_lines(data.styles, data.names),
            categories=list(data.names.items()),
            bars=True,
            logy=self.log,
            note=f"{MAX_NORM.words.capitalize()} is a metric of this study.",
        )
        return Drawing(rows[["algorithm", "score"]], description)
