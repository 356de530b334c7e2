"""Drawings of specifications for tests, without files."""

from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.figure_data import FigureData


def build_figure(spec):
    """Return the figure of a specification."""
    return FIGURES.build(spec)


def draw_figure(spec, results, **inputs):
    """Return the matplotlib figure and the Drawing of a specification; results: (table, curves, view)."""
    table, curves, view = results
    data = FigureData(build_figure(spec), view, table, curves, **inputs)
    drawing = data.figure.draw(data)
    return drawing.figure, drawing


def panels(spec, results, **inputs):
    """Return the matplotlib figure, and its axes by title."""
    figure, _ = draw_figure(spec, results, **inputs)
    return figure, {ax.get_title(): ax for ax in figure.axes if ax.get_visible()}
