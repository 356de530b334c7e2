"""What is drawn fits: texts are wrapped, ticks that would overlap are left out, nothing is cut at the figure's edge.

How wide a text is depends on its letters, so this is done once a figure is complete, after all kinds alike.
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
DECADES = 300.0  # on a logarithmic axis that spans less, numbers are written as they are
PASSES = 6  # each leaves out half of the ticks that overlap


def width(text: str, size: float, weight: str = "normal") -> float:
    """Inches that a text takes, which may hold formulas. size: of its letters, in points."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    renderer, font = RendererAgg(1, 1, DPI), FontProperties(family=rcParams["font.family"], size=size, weight=weight)
    try:
        found = renderer.get_text_width_height_descent(text, font, ismath=text.count("$") > 1)
    except ValueError:  # a label such as $\nope$, which is drawn letter by letter
        found = renderer.get_text_width_height_descent(text, font, ismath=False)
    return float(found[0]) / DPI


def lines(text: str, inches: float, size: float, commas: bool = False, weight: str = "normal") -> list[str]:
    """Text on lines that are no wider than some inches, where words allow it.

    size: of the letters, in points. commas: whether lines end at commas where they can.
    """
    found: list[str] = []
    parts = re.split(r"(?<=,) (?![^(]*\))", text) if commas and width(text, size, weight) > inches else [text]
    for part in parts:
        words = [part] if width(part, size, weight) <= inches else re.findall(r"(?:\$[^$]*\$|\S)+", part)
        for number, word in enumerate(words):
            longer = f"{found[-1]} {word}" if found else word
            if found and width(longer, size, weight) <= inches and (number or len(words) == 1):
                found[-1] = longer
            else:
                found.append(word)
    return found or [""]


def fit(figure: "Figure", widen: bool = True) -> None:
    """Lay a complete figure out such that texts neither overlap nor leave it, which may make it larger.

    widen: whether labels of several lines make it wider; otherwise they take the place of panels.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        return
    axes = [ax for ax in figure.axes if ax.get_visible()]
    _wrap(figure, getattr(figure, "_supxlabel", None), figure.get_figwidth() - 0.2)
    for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
        _plain(axis)
    engine.execute(figure)
    changed = _wrap(figure, getattr(figure, "_supylabel", None), figure.get_figheight() - 0.2, widen=widen)
    for ax in axes:
        wide, high = _room(figure, ax, axes)
        changed |= _wrap(figure, ax.title, wide, commas=True)
        changed |= _wrap(figure, ax.xaxis.label, wide)
        changed |= _wrap(figure, ax.yaxis.label, high, widen=widen)
    for _ in range(PASSES):
        if changed:
            engine.execute(figure)
        thinned = [_thin(axis) for ax in axes for axis in (ax.xaxis, ax.yaxis)]
        changed = any(thinned) or _grow(figure)
        if not changed:
            break


def _wrap(figure: "Figure", text: "Text | None", inches: float, commas: bool = False, widen: bool = True) -> bool:
    """Break a text into lines; the figure grows by those that come to the first. Returns whether there are any.

    widen: whether it grows to the side.
    """
    if text is None or not text.get_text():
        return False
    size = float(text.get_fontsize())
    found = "\n".join(line for part in text.get_text().split("\n") for line in lines(part, inches, size, commas))
    more = found.count("\n") - text.get_text().count("\n")
    if more > 0:
        text.set_text(found)
        wide, high = figure.get_size_inches()
        extra = more * size * LINE / 72
        turned = text.get_rotation() == 90
        beside = extra if turned and widen else 0.0
        figure.set_size_inches((wide + beside, high + (0.0 if turned else extra)), forward=False)
    return more > 0


def _room(figure: "Figure", ax: "Axes", axes: "Sequence[Axes]") -> tuple[float, float]:
    """Inches that title and labels of axes may take, to the right and upwards: up to half way to the next axes."""
    place, dpi = ax.get_window_extent(), figure.dpi
    centre = (place.x0 + place.x1) / 2
    others = [other.get_window_extent() for other in axes if other is not ax]
    beside = [abs((o.x0 + o.x1) / 2 - centre) for o in others if o.y0 < place.y1 and place.y0 < o.y1]
    edge = 2 * min(centre, figure.bbox.width - centre)
    return (min([edge, *beside]) / dpi - 0.1, max(place.height / dpi, 0.5))


def _plain(axis: "Axis") -> None:
    """Have a logarithmic axis of few decades show numbers as they are: 0.3 in place of 3 × 10⁻¹."""
    from matplotlib.ticker import LogFormatterSciNotation, NullFormatter

    class Plain(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return labels.number(float(f"{x:.6g}")) if super().__call__(x, pos) else ""

    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() == "symlog":
        axis.set_minor_formatter(NullFormatter())
    elif axis.get_scale() == "log" and 1e-3 <= low and high < 1e5 and high / low < DECADES:
        if type(axis.get_major_formatter()) is LogFormatterSciNotation:
            axis.set_major_formatter(Plain())
        if type(axis.get_minor_formatter()) is LogFormatterSciNotation:
            axis.set_minor_formatter(Plain(labelOnlyBase=False))


def shown(axis: "Axis", minor: bool = False) -> "list[tuple[float, Text]]":
    """Places and labels of the ticks of an axis that are seen, in order."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    places, texts = axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor=minor)
    found = [
        (float(place), text)
        for place, text in zip(places, texts, strict=False)
        if low - slack <= place <= high + slack and text.get_visible() and text.get_text()
    ]
    return sorted(found, key=lambda tick: tick[0])


def overlap(boxes: "Iterable[Bbox]", gap: float) -> bool:
    """Whether any two neighbours of some boxes are nearer than a gap, in pixels."""
    return any(
        one.x0 - gap < other.x1 and other.x0 - gap < one.x1 and one.y0 < other.y1 and other.y0 < one.y1
        for one, other in itertools.pairwise(boxes)
    )


def _thin(axis: "Axis") -> bool:
    """Wrap or leave out labels of ticks that overlap. Returns whether there were any."""
    from matplotlib.ticker import NullFormatter

    if not axis.get_visible():
        return False
    across = axis is axis.axes.xaxis
    gap = GAP * axis.axes.bbox.width / _inches(axis) / 72 if across else 0.0
    minor = shown(axis, minor=True)
    if minor:
        every = sorted([*shown(axis), *minor], key=lambda tick: tick[0])
        if overlap((text.get_window_extent() for _, text in every), gap):
            axis.set_minor_formatter(NullFormatter())
            return True
    ticks = shown(axis)
    if not overlap((text.get_window_extent() for _, text in ticks), gap):
        return False
    places, texts = [place for place, _ in ticks], [text.get_text() for _, text in ticks]
    if across and any(re.search("[A-Za-z]{2}", re.sub(r"\$.*?\$", "", text)) for text in texts):
        return _turn(axis, places, texts)
    axis.set_ticks(places[::2], texts[::2])
    return True


def _inches(axis: "Axis") -> float:
    """Width of an axis."""
    figure = axis.get_figure(root=True)
    return float(axis.axes.bbox.width) / (figure.dpi if figure else 100)


def _turn(axis: "Axis", places: list[float], texts: list[str]) -> bool:
    """Wrap words under an x-axis, and turn them where that is not enough."""
    low, high = sorted(axis.get_view_interval())
    pitch = _inches(axis) / max(1.0, high - low)
    size = float(axis.get_ticklabels()[0].get_fontsize())
    wrapped = ["\n".join(lines(text.replace("\n", " "), pitch - 0.1, size)) for text in texts]
    if wrapped != texts and all(width(line, size) <= pitch - 0.05 for text in wrapped for line in text.split("\n")):
        axis.set_ticks(places, wrapped)
        return True
    if not axis.get_ticklabels()[0].get_rotation():
        axis.set_ticks(places, [text.replace("\n", " ") for text in texts])
        axis.set_tick_params(rotation=35)
        for text in axis.get_ticklabels():
            text.set(ha="right", rotation_mode="anchor")
        return True
    return False


def _grow(figure: "Figure") -> bool:
    """Make a figure larger by what lies beyond its edges. Returns whether anything did."""
    box, (wide, high) = figure.get_tightbbox(), figure.get_size_inches()
    across = max(0.0, -box.x0) + max(0.0, box.x1 - wide)
    upwards = max(0.0, -box.y0) + max(0.0, box.y1 - high)
    if max(across, upwards) < 0.02:
        return False
    figure.set_size_inches((wide + across, high + upwards), forward=False)
    return True
