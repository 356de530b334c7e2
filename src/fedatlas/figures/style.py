"""How algorithms and figures look: one colour, marker and line style for each algorithm throughout the atlas.

The colours extend those of Okabe and Ito (2008), which people with any colour vision tell apart. Algorithms that share
a figure of a paper also differ in marker. The paper's own method is never grey.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

Key = TypeVar("Key")

BLACK, GREY = "#262626", "#a3a3a3"
ORANGE, SKY, GREEN, BLUE, VERMILION, PINK = "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7"
VIOLET, WINE, NAVY = "#7b3fa8", "#8f1d4f", "#1b2a78"
# Left to algorithms that have no entry below, so that a new one is like none that it may be compared with.
FREE_COLOURS = ("#e7298a", "#a6611a", "#12a4a4", "#b8860b", "#5b6ee1")
FREE_MARKERS = ("*", "P", "X", "h", "8", "p")

Line = str | tuple[float, tuple[float, ...]]  # a line style of matplotlib
SOLID: Line
SOLID, DASHED, DOTTED, DASHDOT = "-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (5, 1.5, 1.2, 1.5))
DASHES = (SOLID, DASHED, DOTTED, DASHDOT)


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
    "dane+-sgd": Style(BLUE, "P", DASHED),
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

    entries: the algorithm's name by id, in the experiment's order. Entries of one algorithm share its hue and differ in
    lightness, marker and line. Algorithms without an entry in STYLES get free colours by their name, each another.
    """
    found: dict[Key, Style] = {}
    variants: dict[str, int] = {}
    taken: set[str] = set()
    for id, name in entries.items():
        style = STYLES.get(name) or _free(name, taken)
        number = variants.setdefault(name, 0)
        variants[name] += 1
        if not number:
            taken.add(style.colour)
        found[id] = _variant(style, number) if number else style
    return found


def _free(name: str, taken: set[str]) -> Style:
    """A look made of a name alone, unless the colour is taken in the figure."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    order = [FREE_COLOURS[(number + i) % len(FREE_COLOURS)] for i in range(len(FREE_COLOURS))]
    colour = next((c for c in order if c not in taken), order[0])
    return Style(colour, FREE_MARKERS[number % len(FREE_MARKERS)], DASHES[number // 7 % len(DASHES)])


def _variant(style: Style, number: int) -> Style:
    """The look of a further entry of the same algorithm."""
    towards, share = ((255, 0.45), (0, 0.45), (255, 0.68), (0, 0.65))[(number - 1) % 4]
    parts = (int(style.colour[i : i + 2], 16) for i in (1, 3, 5))
    colour = "#" + "".join(f"{round((1 - share) * part + share * towards):02x}" for part in parts)
    marker = [m for m in "os^Dv<>pP" if m != style.marker][(number - 1) % 8]
    return replace(style, colour=colour, marker=marker, line=DASHES[(DASHES.index(style.line) + number) % len(DASHES)])


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
