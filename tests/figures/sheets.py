"""What the tests of figures share: drawing a specification without writing files."""

from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.sheet import Sheet


def declared(spec):
    """The figure that a specification declares."""
    return FIGURES.build(spec)


def drawn(spec, results, **inputs):
    """(matplotlib figure, sheet) of a specification. results: (table, curves, view). inputs: of the Sheet."""
    table, curves, view = results
    sheet = Sheet(declared(spec), view, table, curves, **inputs)
    return sheet.figure.draw(sheet), sheet


def panels(spec, results, **inputs):
    """The matplotlib figure, and its axes by title."""
    figure, _ = drawn(spec, results, **inputs)
    return figure, {ax.get_title(): ax for ax in figure.axes if ax.get_visible()}
