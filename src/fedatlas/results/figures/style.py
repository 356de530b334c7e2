"""How algorithms and figures look: one colour, marker and line style for each algorithm throughout the atlas.

The colours extend those of Okabe and Ito (2008). Each two of them look at least ``FAR`` apart to people with any colour
vision (`fedatlas.results.figures.colour_vision`), so up to as many entries as there are colours are told apart by colour alone.
Entries of an experiment also differ in marker or line. The paper's own method is never grey.
"""

import hashlib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fedatlas.results.figures.colour_vision import apart

Key = TypeVar("Key")

FAR = 9.5  # CIEDE2000 between two colours that people with any colour vision tell apart
NEAR = 6  # entries that stand together are often in one figure, so these are to differ most
BLACK, GREY = "#262626", "#a3a3a3"
ORANGE, SKY, GREEN, BLUE, VERMILION, PINK = "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#c679af"
VIOLET, WINE, NAVY = "#5522c3", "#8f1d4f", "#1b2a78"
# Left to entries that have no colour of their own in the table below, so that a new algorithm is like none there.
BROWN, MAUVE, SAGE, KHAKI, LILAC, TEAL = "#59420d", "#9f567a", "#8dbf88", "#776740", "#ad64f7", "#225959"
FREE_COLOURS = (LILAC, BROWN, SAGE, MAUVE, TEAL, KHAKI)
COLOURS = (BLACK, BLUE, VERMILION, GREEN, ORANGE, PINK, SKY, WINE, NAVY, VIOLET, GREY, *FREE_COLOURS)
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">", "p", "d", "h", "*", "8")

Line = str | tuple[float, tuple[float, ...]]  # a line style of matplotlib
SOLID: Line
SOLID, DASHED, DOTTED, DASHDOT = "-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (5, 1.5, 1.2, 1.5))
DASHES: tuple[Line, ...] = (SOLID, DASHED, DOTTED, DASHDOT)


@dataclass(frozen=True)
class Style:
    """How an algorithm is drawn."""

    colour: str
    marker: str
    line: Line = SOLID

    @property
    def layer(self) -> float:
        """Order of drawing: broken lines lie above whole ones, so that of two equal curves both are seen."""
        return 2.2 if self.line == SOLID else 2.6

    @property
    def size(self) -> float:
        """Size of markers: those of broken lines are smaller, for the same reason."""
        return 5.8 if self.line == SOLID else 4.6


STYLES = {
    # centralised and minibatch
    "gd": Style(NAVY, "X", DASHDOT),
    "agd": Style(GREEN, "^"),
    "mb-sgd": Style(SKY, "^", DASHED),
    "mb-ac-sgd": Style(BLUE, "s", DASHED),
    # FedAvg and FedAc
    "fedavg": Style(BLACK, "o"),
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
    "mime": Style(SKY, "<"),
    "mimelite": Style(GREY, "<", DOTTED),
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


def styles(entries: Mapping[Key, str]) -> dict[Key, Style]:
    """Style of every entry of an experiment, by id.

    entries: the algorithm's name by id, in the experiment's order. The first entry of an algorithm has the look that
    STYLES gives it, unless an entry before it has that colour, as among many algorithms. Any other entry gets a colour
    that is told apart from all others there, as long as there is one, and a marker and line that no other has. It
    depends on nothing but the entries, so it is the same in every figure.
    """
    found: dict[Key, Style] = {}
    seen: set[str] = set()
    for id, name in entries.items():
        look = STYLES.get(name)
        if look and name not in seen and all(apart(look.colour, other.colour) >= FAR for other in found.values()):
            found[id] = look
            seen.add(name)
    for id, name in entries.items():
        if id not in found:
            found[id] = _further(name, name not in STYLES, list(found.values()))
    return {id: found[id] for id in entries}


def _further(name: str, new: bool, others: list[Style]) -> Style:
    """The look of an entry beside others. new: whether STYLES does not know the algorithm, whose name then decides."""
    taken = [look.colour for look in others]
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") if new else 0
    free = [colour for colour in COLOURS if _told_apart(colour, taken) >= FAR] or list(COLOURS)
    own = [colour for colour in _rotated(FREE_COLOURS, number) if new and colour in free]
    colour = own[0] if own else max(free, key=lambda colour: _told_apart(colour, taken[-NEAR:]))
    used = {(look.marker, look.line) for look in others}
    alike = {look.marker for look in others if apart(look.colour, colour) < FAR}
    lines: tuple[Line, ...] = _rotated(DASHES, number // 7 if new else len(others))
    looks = [(marker, line) for marker, line in itertools.product(_rotated(MARKERS, number or len(others)), lines)]
    marker, line = min(looks, key=lambda look: (look in used, look[0] in alike))
    return Style(colour, marker, line)


def _told_apart(colour: str, others: Iterable[str]) -> float:
    return min((apart(colour, other) for other in others), default=100.0)


def _rotated(values: tuple[Key, ...], by: int) -> tuple[Key, ...]:
    by %= len(values)
    return values[by:] + values[:by]


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
    "lines.linewidth": 1.7,
    "lines.markersize": 5.5,
    "lines.markeredgewidth": 1.1,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.6,
    "svg.hashsalt": "fedatlas",
    "svg.fonttype": "path",
    "path.simplify": True,
}
