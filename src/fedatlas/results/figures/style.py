"""Styles of algorithms and figures: one colour, marker and line for each algorithm throughout the atlas.

The colours extend those of Okabe and Ito (2008). Each two of them look at least 9.5 apart (CIEDE2000) to people with
any colour vision, so up to as many entries as there are colours differ by colour alone. Entries of an experiment also
differ in marker or line. The paper's own method is never grey.
"""

import hashlib
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
# The same hues on the dark ground of a screen, in the order of lightness of the paper's colours where hues are alike.
DARK = {
    BLACK: "#e8e8e8", BLUE: "#0398fa", VERMILION: "#e85a03", GREEN: "#51bf95", ORANGE: "#f5ad29", PINK: "#e3aecc",
    SKY: "#a5d8ff", WINE: "#d1608e", NAVY: "#5c6798", VIOLET: "#6165e6", GREY: "#747474", LILAC: "#c5a3ff",
    BROWN: "#b3975e", MAUVE: "#d383b7", SAGE: "#a1d793", KHAKI: "#928568", TEAL: "#409493", REFERENCE: "#9a9a94",
}  # fmt: skip
WIDTH, EMPHASIS = 1.7, 1.7  # of lines, in points; the factor on it of lines that are emphasised
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">", "p", "d", "h", "*", "8")

LineStyle = str | tuple[float, tuple[float, ...]]  # of matplotlib
SOLID: LineStyle
SOLID, DASHED, DOTTED, DASHDOT = "-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (5, 1.5, 1.2, 1.5))
DASHES: tuple[LineStyle, ...] = (SOLID, DASHED, DOTTED, DASHDOT)


@dataclass(frozen=True)
class Style:
    """The style of an algorithm's line and markers.

    Attributes:
        colour: Colour as #rrggbb.
        marker: Marker of matplotlib.
        line: Style of the line.
        on_top: Whether it is drawn above all others.
        weight: Factor on the width of its lines.
    """

    colour: str
    marker: str
    line: LineStyle = SOLID
    on_top: bool = False
    weight: float = 1.0

    @property
    def dash(self) -> tuple[float, ...]:
        """Lengths of strokes and gaps in widths of the line; empty if it is solid."""
        return self.line[1] if isinstance(self.line, tuple) else ()


STYLES = {
    # centralised and minibatch
    "gd": Style(NAVY, "X", DASHDOT),
    "agd": Style(GREEN, "^"),
    "mb-sgd": Style(SKY, "^", DASHED),
    "mb-ac-sgd": Style(BLUE, "s", DASHED),
    # FedAvg and FedAc
    "fedavg": Style(BLACK, "o"),
    "fedavg-averaged": Style(GREY, "D", DASHED),
    "fedac-1": Style(VERMILION, "D"),
    "fedac-2": Style(PINK, "P", DASHED),
    "fedac-vanilla": Style(ORANGE, "v", DASHED),
    "fedac-convex": Style(WINE, "h", DASHDOT),
    # drift correction and proximal terms
    "fedprox": Style(WINE, "s", DASHED),
    "scaffold": Style(ORANGE, "^"),
    "scaffnew": Style(SKY, "v"),
    "feddyn": Style(SKY, "P", DASHDOT),
    "fedadmm": Style(GREEN, "X"),
    "fedpd": Style(GREY, "p", DASHDOT),
    "fedspeed": Style(BLUE, "D"),
    "fedspeed-z": Style(NAVY, "d"),
    # momentum and adaptive servers
    "fedcm": Style(VERMILION, "<", DASHED),
    "fedadam": Style(PINK, "v"),
    "fedams": Style(ORANGE, "p"),
    "fedavgm": Style(GREEN, ">"),
    "fedyogi": Style(VIOLET, "v", DASHED),
    "fedadagrad": Style(GREY, "v", DASHDOT),
    "mime": Style(GREY, "<"),
    "mimelite": Style(SKY, "X", DOTTED),
    "mime-mvr": Style(NAVY, ">", DASHED),
    # similarity
    "dane": Style(GREEN, "8"),
    "dane+-gd": Style(BLUE, "p"),
    "dane+-fgd": Style(WINE, "<", DASHED),
    "dane+-gd-least": Style(SKY, "8", DASHED),
    "dane+-sgd": Style(GREEN, "P", DASHED),
    "fedred": Style(PINK, "X"),
    "fedred-gd": Style(VERMILION, "o"),
    "fedred-sgd": Style(VERMILION, "h", DASHED),
    "sonata": Style(GREY, "h", DASHDOT),
    "svrp-gd": Style(WINE, ">", DASHED),
    "ce-lgd": Style(BLACK, "d", DOTTED),
    # stochastic Polyak steps
    "fedsps": Style(GREEN, "D"),
    "feddecsps": Style(BLUE, "d", DASHED),
    "fedsps-normalized": Style(WINE, "X", DASHDOT),
    "fedsps-global": Style(VERMILION, "^", DOTTED),
    "sps": Style(PINK, "h", DASHED),
    "constant": Style(GREY, "o", DASHED),
    # a model for each client
    "ditto": Style(VERMILION, "p"),
    "fedrep": Style(BLUE, "^", DASHED),
    # compression
    "ef21": Style(GREEN, "o"),
    "ef21-sgdm": Style(VERMILION, "P", DASHED),
    "diana": Style(VIOLET, "^", DASHED),
    "marina": Style(ORANGE, "s", DASHDOT),
    "fedpaq": Style(SKY, "D", DASHED),
    "compressed-scaffnew": Style(BLUE, "v", DOTTED),
    # other means and steps of the server
    "fednova": Style(BLUE, "X"),
    "fedexp": Style(VERMILION, "v", DASHED),
    "median": Style(GREY, "s", DASHED),
    # asynchronous servers
    "fedasync": Style(GREEN, "s"),
    # unavailable clients
    "fedawe": Style(VIOLET, "D"),
    "fedavg-active": Style(BLACK, "s", DASHED),
    "fedavg-all": Style(GREY, "8", DOTTED),
    "fedavg-known-p": Style(WINE, "d", DASHED),
    "fedau": Style(ORANGE, "P", DASHED),
    "f3ast": Style(SKY, ">", DASHDOT),
    "mifa": Style(GREEN, "v"),
    "fedvarp": Style(VERMILION, "X", DASHDOT),
}


def styles(algorithms: Mapping[Key, str], emphasised: Collection[Key] = ()) -> dict[Key, Style]:
    """Return the style of each entry of an experiment, by id.

    The first entry of an algorithm has the style that STYLES gives it, in all experiments; where more algorithms are
    compared than there are colours, some share one and differ in marker. Any other entry gets a colour that no other
    has, as long as there is one, and a unique marker and line. Styles depend on the entries alone,
    so they are the same in all figures. An algorithm that is not in STYLES, such as a reader's own, has a solid line if
    it can, above all others.

    Args:
        algorithms: Names of the algorithms by id of the entry, in the experiment's order.
        emphasised: Ids of the entries that are drawn above all others, in thick lines.
    """
    result: dict[Key, Style] = {}
    styled: set[str] = set()
    for id, name in algorithms.items():
        style = STYLES.get(name)
        if style and name not in styled:
            result[id] = style
            styled.add(name)
    for id, name in algorithms.items():
        if id not in result:
            result[id] = _additional_style(name, list(result.values()))
    result |= {id: replace(result[id], on_top=True, weight=EMPHASIS) for id in emphasised}
    return {id: result[id] for id in algorithms}


def _additional_style(name: str, present: list[Style]) -> Style:
    """Return a style that differs from those present; the name decides where STYLES has no such algorithm."""
    new = name not in STYLES
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") if new else 0
    others = (*COLOURS[1:], BLACK)  # which is that of FedAvg in most figures
    palette = (*_rotate(FREE_COLOURS, number), *others) if new else others
    colours = {style.colour for style in present}
    colour = next((colour for colour in palette if colour not in colours), palette[len(present) % len(palette)])
    pairs = {(style.marker, style.line) for style in present}
    similar = {style.marker for style in present if style.colour == colour}
    lines: tuple[LineStyle, ...] = DASHES if new else _rotate(DASHES, len(present))
    candidates = itertools.product(_rotate(MARKERS, number or len(present)), lines)
    marker, line = min(candidates, key=lambda pair: (pair in pairs, pair[0] in similar))
    return Style(colour, marker, line, on_top=new)


def _rotate(values: tuple[Key, ...], by: int) -> tuple[Key, ...]:
    by %= len(values)
    return values[by:] + values[:by]


# Colours of heat maps: white for none, then ever darker; blue below and orange above a centre.
SEQUENTIAL = ["#ffffff", "#cfe3f1", "#6aaed6", "#2171b5", "#08306b"]
DIVERGING = ["#08306b", "#6aaed6", "#f7f7f7", "#f4a259", "#7f2704"]

# Settings of matplotlib, all of them, so that a figure has the same bytes whoever draws it.
RC = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9.5,
    "mathtext.fontset": "dejavusans",
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # publishers refuse fonts of type 3
    "axes.linewidth": 0.8,
    "axes.edgecolor": "#444444",
    "axes.labelcolor": "#1a1a1a",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelcolor": "#1a1a1a",
    "ytick.labelcolor": "#1a1a1a",
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "lines.linewidth": WIDTH,
    "lines.markersize": 5.5,
    "lines.markeredgewidth": 1.1,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.6,
    "svg.hashsalt": "fedatlas",
    "svg.fonttype": "path",
    "path.simplify": True,
}
