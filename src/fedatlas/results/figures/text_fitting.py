"""Fitting of texts into figures: they are wrapped, overlapping ticks are dropped, and nothing is cut at an edge.

The width of a text depends on its letters, so this is done once a figure is complete, for all kinds alike.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fedatlas.experiments import labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

DPI = 100  # at which figures are laid out
LINE = 1.35  # height of a line over the size of its letters
GAP = 3.0  # points between two tick labels
DECADES = 300.0  # on a logarithmic axis that spans less, numbers are written without powers of ten
PASSES = 6  # each drops half of the ticks that overlap


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Return the width of a text in inches; it may hold formulas. The size of its letters is in points."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    renderer, font = RendererAgg(1, 1, DPI), FontProperties(family=rcParams["font.family"], size=size, weight=weight)
    try:
        extent = renderer.get_text_width_height_descent(text, font, ismath=text.count("$") > 1)
    except ValueError:  # a label such as $\nope$, which is drawn letter by letter
        extent = renderer.get_text_width_height_descent(text, font, ismath=False)
    return float(extent[0]) / DPI


def wrap_text(text: str, inches: float, size: float, commas: bool = False) -> list[str]:
    """Break a text into lines that are no wider than some inches, where words allow it.

    Args:
        text: Text, which may hold formulas.
        inches: Width of a line.
        size: Size of the letters, in points.
        commas: Whether lines end at commas where they can.
    """
    lines: list[str] = []
    parts = re.split(r"(?<=,) (?![^(]*\))", text) if commas and text_width(text, size) > inches else [text]
    for part in parts:
        words = [part] if text_width(part, size) <= inches else re.findall(r"(?:\$[^$]*\$|\S)+", part)
        for number, word in enumerate(words):
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and text_width(longer, size) <= inches and (number or len(words) == 1):
                lines[-1] = longer
            else:
                lines.append(word)
    return lines or [""]


def fit(figure: "Figure") -> None:
    """Lay out a complete figure, with its layout engine, such that texts neither overlap nor leave it; it may grow."""
    engine = figure.get_layout_engine()
    if engine is None:
        return
    panels = [ax for ax in figure.axes if ax.get_visible()]
    _wrap(figure, _find_text(figure, figure.get_supxlabel()), figure.get_figwidth() - 0.2)
    for axis in (axis for ax in panels for axis in (ax.xaxis, ax.yaxis)):
        _write_numbers_plainly(axis)
    engine.execute(figure)
    changed = _wrap(figure, _find_text(figure, figure.get_supylabel()), figure.get_figheight() - 0.2)
    for ax in panels:
        width, height = _label_room(figure, ax, panels)
        changed |= _wrap(figure, ax.title, width, commas=True)
        changed |= _wrap(figure, ax.xaxis.label, width)
        changed |= _wrap(figure, ax.yaxis.label, height)
    for _ in range(PASSES):
        if changed:
            engine.execute(figure)
        thinned = [_thin(axis) for ax in panels for axis in (ax.xaxis, ax.yaxis)]
        changed = any(thinned) or _grow(figure)
        if not changed:
            break


def _find_text(figure: "Figure", words: str) -> "Text | None":
    return next((text for text in figure.texts if words and text.get_text() == words), None)


def _wrap(figure: "Figure", text: "Text | None", inches: float, commas: bool = False) -> bool:
    """Break a text into lines and return whether it got more; the figure grows by these."""
    if text is None or not text.get_text():
        return False
    size = float(text.get_fontsize())
    wrapped = "\n".join(line for part in text.get_text().split("\n") for line in wrap_text(part, inches, size, commas))
    added = wrapped.count("\n") - text.get_text().count("\n")
    if added > 0:
        text.set_text(wrapped)
        width, height = figure.get_size_inches()
        extra = added * size * LINE / 72
        vertical = text.get_rotation() == 90
        across, upwards = (extra, 0.0) if vertical else (0.0, extra)
        figure.set_size_inches((width + across, height + upwards), forward=False)
    return added > 0


def _label_room(figure: "Figure", ax: "Axes", panels: "Sequence[Axes]") -> tuple[float, float]:
    """Return the inches, across and upwards, for title and labels of axes: up to half way to the next axes."""
    box, dpi = ax.get_window_extent(), figure.dpi
    centre = (box.x0 + box.x1) / 2
    boxes = [panel.get_window_extent() for panel in panels if panel is not ax]
    distances = [abs((b.x0 + b.x1) / 2 - centre) for b in boxes if b.y0 < box.y1 and box.y0 < b.y1]
    edge = 2 * min(centre, figure.bbox.width - centre)
    return (min([edge, *distances]) / dpi - 0.1, max(box.height / dpi, 0.5))


def _write_numbers_plainly(axis: "Axis") -> None:
    """Format a logarithmic axis of few decades with plain numbers: 0.3 in place of 3 × 10⁻¹."""
    from matplotlib.ticker import LogFormatterSciNotation, NullFormatter

    class PlainLogFormatter(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return labels.number(float(f"{x:.6g}")) if super().__call__(x, pos) else ""

    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() == "symlog":
        axis.set_minor_formatter(NullFormatter())
    elif axis.get_scale() == "log" and 1e-3 <= low and high < 1e5 and high / low < DECADES:
        if type(axis.get_major_formatter()) is LogFormatterSciNotation:
            axis.set_major_formatter(PlainLogFormatter())
        if type(axis.get_minor_formatter()) is LogFormatterSciNotation:
            axis.set_minor_formatter(PlainLogFormatter(labelOnlyBase=False))


def visible_ticks(axis: "Axis", minor: bool = False) -> "list[tuple[float, Text]]":
    """Return positions and labels of the visible ticks of an axis, in order."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    positions, texts = axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor=minor)
    ticks = [
        (float(position), text)
        for position, text in zip(positions, texts, strict=False)
        if low - slack <= position <= high + slack and text.get_visible() and text.get_text()
    ]
    return sorted(ticks, key=lambda tick: tick[0])


def overlap(boxes: "Iterable[Bbox]", gap: float) -> bool:
    """Return whether two neighbours of some boxes are nearer than a gap, in pixels."""
    return any(
        a.x0 - gap < b.x1 and b.x0 - gap < a.x1 and a.y0 < b.y1 and b.y0 < a.y1 for a, b in itertools.pairwise(boxes)
    )


def _thin(axis: "Axis") -> bool:
    """Wrap or drop labels of ticks that overlap, and return whether there were any."""
    from matplotlib.ticker import NullFormatter

    if not axis.get_visible():
        return False
    horizontal = axis is axis.axes.xaxis
    gap = GAP * axis.axes.bbox.width / _width(axis) / 72 if horizontal else 0.0
    minor = visible_ticks(axis, minor=True)
    if minor:
        ticks = sorted([*visible_ticks(axis), *minor], key=lambda tick: tick[0])
        if overlap((text.get_window_extent() for _, text in ticks), gap):
            axis.set_minor_formatter(NullFormatter())
            return True
    ticks = visible_ticks(axis)
    if not overlap((text.get_window_extent() for _, text in ticks), gap):
        return False
    positions, texts = [position for position, _ in ticks], [text.get_text() for _, text in ticks]
    if horizontal and any(re.search("[A-Za-z]{2}", re.sub(r"\$.*?\$", "", text)) for text in texts):
        return _wrap_or_rotate(axis, positions, texts)
    axis.set_ticks(positions[::2], texts[::2])
    return True


def _width(axis: "Axis") -> float:
    """Return the width of an axis in inches."""
    figure = axis.get_figure(root=True)
    return float(axis.axes.bbox.width) / (figure.dpi if figure else 100)


def _wrap_or_rotate(axis: "Axis", positions: list[float], texts: list[str]) -> bool:
    """Wrap words under an x-axis, and rotate them where that is not enough."""
    low, high = sorted(axis.get_view_interval())
    pitch = _width(axis) / max(1.0, high - low)
    size = float(axis.get_ticklabels()[0].get_fontsize())
    wrapped = ["\n".join(wrap_text(text.replace("\n", " "), pitch - 0.1, size)) for text in texts]
    widths = [text_width(line, size) for text in wrapped for line in text.split("\n")]
    if wrapped != texts and max(widths) <= pitch - 0.05:
        axis.set_ticks(positions, wrapped)
        return True
    if not axis.get_ticklabels()[0].get_rotation():
        axis.set_ticks(positions, [text.replace("\n", " ") for text in texts])
        axis.set_tick_params(rotation=35)
        for text in axis.get_ticklabels():
            text.set(ha="right", rotation_mode="anchor")
        return True
    return False


def _grow(figure: "Figure") -> bool:
    """Enlarge a figure by the parts beyond its edges, and return whether there were any."""
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    across = max(0.0, -box.x0) + max(0.0, box.x1 - width)
    upwards = max(0.0, -box.y0) + max(0.0, box.y1 - height)
    if max(across, upwards) < 0.02:
        return False
    figure.set_size_inches((width + across, height + upwards), forward=False)
    return True
