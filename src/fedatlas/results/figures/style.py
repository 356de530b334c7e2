"""Styles of algorithms and figures: one colour, marker and line for each algorithm throughout the atlas.

The colours extend those of Okabe and Ito (2008). Each two of them look at least 9.5 apart (CIEDE2000) to people with
any colour vision, so up to as many entries as there are colours differ by colour alone. Entries of an experiment also
differ in marker or line. The paper's own method is never grey.
"""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

Key = TypeVar("Key")

BLACK, GREY = "#262626", "#a3a3a3"
ORANGE, SKY, GREEN, BLUE, VERMILION, PINK = "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#c679af"
VIOLET, WINE, NAVY = "#5522c3", "#8f1d4f", "#1b2a78"
# Reserved for algorithms without an entry in STYLES, so that a new algorithm resembles none of those.
BROWN, MAUVE, SAGE, KHAKI, LILAC, TEAL = "#59420d", "#9f567a", "#8dbf88", "#776740", "#ad64f7", "#225959"
FREE_COLOURS = (LILAC, BROWN, SAGE, MAUVE, TEAL, KHAKI)
COLOURS = (BLACK, BLUE, VERMILION, GREEN, ORANGE, PINK, SKY, WINE, NAVY, VIOLET, GREY, *FREE_COLOURS)
REFERENCE = "#777777"  # of lines that no algorithm has
WIDTH, EMPHASIS = 1.7, 1.7  # of lines, in points; the factor on it of lines that are emphasised
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">", "p", "d", "h", "*", "8")

SOLID: tuple[float, ...]
SOLID, DASHED, DOTTED, DASHDOT = (), (5, 1.6), (1.2, 1.4), (5, 1.5, 1.2, 1.5)
DASHES = (SOLID, DASHED, DOTTED, DASHDOT)


@dataclass(frozen=True)
class Line:
    """The look of a line.

    Attributes:
        colour: Colour as #rrggbb.
        marker: Marker of matplotlib; empty for none.
        dash: Lengths of strokes and gaps in widths of the line; empty if it is solid.
        name: Name for people.
        quiet: Whether it is in the background.
        weight: Factor on its width; a line of more than 1 is drawn above all others.
    """

    colour: str
    marker: str
    dash: tuple[float, ...] = SOLID
    name: str = ""
    quiet: bool = False
    weight: float = 1.0


STYLES = {
    # centralised and minibatch
    "gd": Line(NAVY, "X", DASHDOT),
    "agd": Line(GREEN, "^"),
    "mb-sgd": Line(SKY, "^", DASHED),
    "mb-ac-sgd": Line(BLUE, "s", DASHED),
    # FedAvg and FedAc
    "fedavg": Line(BLACK, "o"),
    "fedavg-averaged": Line(GREY, "D", DASHED),
    "fedac-1": Line(VERMILION, "D"),
    "fedac-2": Line(PINK, "P", DASHED),
    "fedac-vanilla": Line(ORANGE, "v", DASHED),
    # drift correction and proximal terms
    "fedprox": Line(WINE, "s", DASHED),
    "scaffold": Line(ORANGE, "^"),
    "scaffnew": Line(SKY, "v"),
    "feddyn": Line(SKY, "P", DASHDOT),
    "fedadmm": Line(GREEN, "X"),
    "fedspeed": Line(BLUE, "D"),
    "fedspeed-z": Line(NAVY, "d"),
    # momentum and adaptive servers
    "fedcm": Line(VERMILION, "<", DASHED),
    "fedadam": Line(PINK, "v"),
    "fedams": Line(ORANGE, "p"),
    "mime": Line(GREY, "<"),
    # similarity
    "dane": Line(GREEN, "8"),
    "dane+-gd": Line(BLUE, "p"),
    "dane+-fgd": Line(WINE, "<", DASHED),
    "dane+-sgd": Line(GREEN, "P", DASHED),
    "fedred": Line(PINK, "X"),
    "fedred-gd": Line(VERMILION, "o"),
    # stochastic Polyak steps
    "fedsps": Line(GREEN, "D"),
    "feddecsps": Line(BLUE, "d", DASHED),
    "fedsps-normalized": Line(WINE, "X", DASHDOT),
    "fedsps-global": Line(VERMILION, "^", DOTTED),
    # compression
    "ef21": Line(GREEN, "o"),
    "diana": Line(VIOLET, "^", DASHED),
    "marina": Line(ORANGE, "s", DASHDOT),
    # asynchronous servers
    "fedasync": Line(GREEN, "s"),
    # unavailable clients
    "fedawe": Line(VIOLET, "D"),
    "fedavg-active": Line(BLACK, "s", DASHED),
    "fedavg-all": Line(GREY, "8", DOTTED),
    "fedavg-known-p": Line(WINE, "d", DASHED),
    "fedau": Line(ORANGE, "P", DASHED),
    "f3ast": Line(SKY, ">", DASHDOT),
    "mifa": Line(GREEN, "v"),
    "fedvarp": Line(VERMILION, "X", DASHDOT),
}


def styles(algorithms: Mapping[Key, str], emphasised: Collection[Key] = ()) -> dict[Key, Line]:
    """Return the style of each entry of an experiment, by id.

    The first entry of an algorithm has the style that STYLES gives it, in all experiments; where more algorithms are
    compared than there are colours, some share one and differ in marker. Any other entry gets a colour that no other
    has, as long as there is one, and a unique marker and line. Styles depend on the entries alone,
    so they are the same in all figures. An algorithm that is not in STYLES, such as a reader's own, has a solid line if
    it can.

    Args:
        algorithms: Names of the algorithms by id of the entry, in the experiment's order.
        emphasised: Ids of the entries that are drawn above all others, in thick lines.
    """
    result: dict[Key, Line] = {}
    for id, name in algorithms.items():
        if name in STYLES and STYLES[name] not in result.values():
            result[id] = STYLES[name]
    for id, name in algorithms.items():
        if id not in result:
            result[id] = _additional_style(name not in STYLES, list(result.values()))
    result |= {id: replace(result[id], weight=EMPHASIS) for id in emphasised}
    return {id: result[id] for id in algorithms}


def _additional_style(new: bool, present: list[Line]) -> Line:
    """Return a style that differs from those present. new: whether STYLES has no such algorithm."""
    others = (*COLOURS[1:], BLACK)  # which is that of FedAvg in most figures
    palette = (*FREE_COLOURS, *others) if new else others
    colours = {style.colour for style in present}
    colour = next((colour for colour in palette if colour not in colours), palette[len(present) % len(palette)])
    pairs = {(style.marker, style.dash) for style in present}
    similar = {style.marker for style in present if style.colour == colour}
    candidates = itertools.product(_rotate(MARKERS, len(present)), DASHES if new else _rotate(DASHES, len(present)))
    marker, dash = min(candidates, key=lambda pair: (pair in pairs, pair[0] in similar))
    return Line(colour, marker, dash)


def _rotate(values: tuple[Key, ...], by: int) -> tuple[Key, ...]:
    by %= len(values)
    return values[by:] + values[:by]


# Settings of matplotlib, beside its defaults, so that a figure has the same bytes whoever draws it.
RC = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "figure.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # publishers refuse fonts of type 3
    "axes.edgecolor": "#444444",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "lines.linewidth": WIDTH,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "svg.hashsalt": "fedatlas",
}
