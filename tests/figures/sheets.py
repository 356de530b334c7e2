"""What the tests of figures share: drawing a specification without writing files."""

from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.figure_data import FigureData


def declared(spec):
    """The figure that a specification declares."""
    return FIGURES.build(spec)


def drawn(spec, results, **inputs):
    """(matplotlib figure, drawing) of a specification. results: (table, curves, view). inputs: of the FigureData."""
    table, curves, view = results
    data = FigureData(declared(spec), view, table, curves, **inputs)
    drawing = data.figure.draw(data)
    return drawing.figure, drawing


def panels(spec, results, **inputs):
    """The matplotlib figure, and its axes by title."""
    figure, _ = drawn(spec, results, **inputs)
    return figure, {ax.get_title(): ax for ax in figure.axes if ax.get_visible()}
