"""Drawings of specifications for tests, without files."""

from fedatlas.results.figures import FIGURES, FigureData


def describe(spec, results, **inputs):
    """Return the numbers and the description of a specification; results: (table, curves, view)."""
    table, curves, view = results
    figure = FIGURES.build(spec)
    drawing = figure.draw(FigureData(figure, view, table, curves, **inputs))
    return drawing.numbers, drawing.description


def lines_of(numbers, *columns, panel=None):
    """Return the columns of each line of a panel, as lists by id."""
    part = numbers if panel is None else numbers[numbers["panel"] == panel]
    return {id: [rows[name].tolist() for name in columns] for id, rows in part.groupby("algorithm", sort=False)}


def texts_of(table):
    """Return the heads of a table's columns, and the texts of its cells by the name of the row."""
    heads = [text for text, _ in table.heads[-1]]
    return heads, {names[-1]: [cell.text for cell in cells] for _, rows in table.blocks for names, cells in rows}
