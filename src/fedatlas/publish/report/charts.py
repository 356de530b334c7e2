"""Interactive figures of the report: numbers for charts.

Charts are drawn by Chart.js, whose published file lies in ``chartjs/`` as it is. It is the smallest maintained library
with logarithmic axes: 0.1 MB in the page, against 0.5 MB of Bokeh, which has more tools than a report needs, and 1.5 MB
of Plotly. The page holds it once, compressed, and unpacks it when the first figure comes into view.
"""

import base64
import gzip
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.io.formats import read_csv
from fedatlas.io.text import read_bytes, read_json

if TYPE_CHECKING:
    import pandas as pd


MAX_POINTS = 200  # of a line; longer ones are thinned
DIGITS = 5


def compress(text: str) -> str:
    """Return a text for a page, compressed by gzip, in base 64; equal texts give equal results."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def load_chart(folder: Path, name: str) -> dict[str, Any] | None:
    """Return a figure's chart as JSON types, or None for a figure that has only an image.

    Besides the keys of `fedatlas.results.figures.description`, whose words are plain here, it has ``panels``, the
    numbers of lines.

    Args:
        folder: Folder of the figures.
        name: Name of the figure.
    """
    path, table = folder / f"{name}.json", folder / f"{name}.csv"
    if not path.exists() or not table.exists():
        return None
    if (spec := read_json(path)) is None or spec.get("kind") == "heatmap":
        return None
    try:
        if spec["kind"] == "lines":
            numbers = read_csv(table, keep_default_na=False, na_values=[""])
            groups = numbers.groupby("panel", sort=False) if "panel" in numbers else [("", numbers)]
            spec["dotted"] |= spec["rings"]
            spec["panels"] = [
                {
                    "title": str(title),
                    "lines": {id: _line(spec, rows) for id, rows in part.groupby("algorithm", sort=False)},
                }
                for title, part in groups
            ]
        chart: dict[str, Any] = _plain(spec)
        return chart
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise UserError(f"{path} and {table} are not numbers of a figure ({fault}): draw it again") from None


def _plain(value: Any) -> Any:
    """Return JSON types whose texts have no marks of formulas."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return labels.plain_text(value) if isinstance(value, str) else value


def _line(spec: dict[str, Any], rows: "pd.DataFrame") -> dict[str, Any]:
    """Return the thinned numbers of a line by column; words of an abscissa are replaced by positions, from 0."""
    step = max(1, math.ceil(len(rows) / MAX_POINTS))
    rows = rows.iloc[sorted({*range(0, len(rows), step), len(rows) - 1})]
    positions = {cell: number for number, (cell, _) in enumerate(spec["categories"])}
    line = {}
    for column in spec["x"]:
        line[column] = [positions[str(cell)] for cell in rows[column]] if positions else _round(rows[column])
    columns = {"y": spec["y"][0], **dict(zip(("low", "high"), spec["range"] or (), strict=False))}
    columns |= {name: name for name in spec["dotted"]}
    if spec["remark"] and (remarks := rows[spec["remark"]].astype(object).fillna("").tolist()) != [""] * len(rows):
        line["remark"] = remarks
    return line | {name: _round(rows[column]) for name, column in columns.items() if column in rows}


def _round(values: "pd.Series") -> list[float | None]:
    """Return numbers with few digits; None for those that are not finite."""
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in np.asarray(values, float)]


COLOURS = 128


def reduce_colours(source: Path) -> bytes:
    """Return a PNG with a palette of few colours. Raise UserError if the file cannot be read."""
    from PIL import Image

    buffer = io.BytesIO()
    with Image.open(io.BytesIO(read_bytes(source))) as image:
        palette = image.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    palette.save(buffer, "png", optimize=True)
    return buffer.getvalue()


def data_uri(image: Path) -> str:
    """Return a PNG as a data URI. Raise UserError if the file cannot be read."""
    return f"data:image/png;base64,{base64.b64encode(reduce_colours(image)).decode()}"
