"""The page of a paper that figures are drawn for: its width, the size of its letters and its fonts, without a TeX."""

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Font families, each a fallback for the one before, and the fonts of formulas; matplotlib ships all of them.
TIMES, SANS = ("STIXGeneral", "DejaVu Sans"), ("DejaVu Sans",)
FONTS = {"cm": (("cmr10", *TIMES), "cm"), "times": (TIMES, "stix"), "sans": (SANS, "dejavusans")}
WIDTHS = (1.5, 20.0)  # inches
POINTS = (4.0, 20.0)
SCREEN = 9.5  # points of letters on a screen
THIN = 0.7  # lines and markers of a page, as a share of those of a screen
MIN_PANEL = 1.45  # inches of a panel
# Characters that fonts for formulas have and fonts for letters lack.
SIGNS = {
    "±": r"\pm", "×": r"\times", "≤": r"\leq", "≥": r"\geq", "≈": r"\approx", "∞": r"\infty", "·": r"\cdot", "<": "<",
    ">": ">", "|": "|", "−": "-", "_": r"\_", "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta",
    "ε": r"\epsilon", "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu",
    "ν": r"\nu", "ξ": r"\xi", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau",
}  # fmt: skip
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
# Characters that the letters of Computer Modern contain.
SAFE = re.compile(r"[A-Za-z0-9\s!#%&'()*+,\-./:;=?@\[\]]*")

_page: ContextVar["Page | None"] = ContextVar("page", default=None)


@dataclass(frozen=True)
class Page:
    """The page of a paper.

    Attributes:
        width: Width of a figure, in inches.
        points: Size of the letters.
        fonts: A key of FONTS.

    Raises:
        UserError: A value is out of its range.
    """

    width: float = 3.25
    points: float = 8.0
    fonts: str = "cm"

    def __post_init__(self) -> None:
        for name, value, (low, high), unit in (
            ("width", self.width, WIDTHS, "inches"),
            ("size of the letters", self.points, POINTS, "points"),
        ):
            if not low <= value <= high:
                raise UserError(f"the {name} is {value:g} {unit}; it must be from {low:g} to {high:g}")
        if self.fonts not in FONTS:
            raise UserError(f"there are no fonts {self.fonts!r}; choose one of {', '.join(FONTS)}")

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of matplotlib that differ from those of a screen."""
        families, formulas = FONTS[self.fonts]
        size = self.points
        return {
            "font.family": list(families),
            "mathtext.fontset": formulas,
            "axes.formatter.use_mathtext": True,
            "font.size": size,
            "axes.titlesize": size,
            "axes.labelsize": size,
            "legend.fontsize": size,
            "xtick.labelsize": 0.88 * size,
            "ytick.labelsize": 0.88 * size,
            "axes.linewidth": 0.6,
            "grid.linewidth": 0.5,
            **{f"{axis}tick.major.{key}": value for axis in "xy" for key, value in (("width", 0.6), ("size", 2.5))},
            **{f"{axis}tick.minor.{key}": value for axis in "xy" for key, value in (("width", 0.4), ("size", 1.5))},
            "legend.handlelength": 2.2,
            "legend.columnspacing": 1.2,
            "pdf.fonttype": 42,  # publishers refuse fonts of type 3
        }

    def shrink(self, size: tuple[float, float]) -> tuple[float, float]:
        """Return the size of a figure in inches, no wider than the page, from that on a screen."""
        share = self.width / size[0]
        return size if share >= 1 else (self.width, size[1] * max(share, self.points / SCREEN))

    def grid(self, columns: int) -> tuple[int, float, float]:
        """Return the columns of panels, and width and height of a panel in inches, from the columns on a screen."""
        columns = max(1, min(columns, int(self.width / MIN_PANEL)))
        width = self.width / columns
        return columns, width, 0.55 * min(width, 4.5) + 0.55 * self.points / 8

    def dress(self, figure: "Figure") -> str:
        """Set the strokes and letters of a figure as the page has them.

        Returns:
            The notes at its foot, which it loses: they belong in the caption.
        """
        from matplotlib.collections import Collection
        from matplotlib.lines import Line2D
        from matplotlib.text import Text

        # The widths of ticks and grids are settings already.
        axis_lines = {id(line) for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for line in axis.findobj(Line2D)}
        for line in figure.findobj(Line2D):
            if isinstance(line, Line2D) and id(line) not in axis_lines:
                line.set_linewidth(THIN * line.get_linewidth())
                line.set_markersize(THIN * line.get_markersize())
                line.set_markeredgewidth(THIN * line.get_markeredgewidth())
        for shapes in figure.findobj(Collection):
            if isinstance(shapes, Collection):
                shapes.set_linewidth([THIN * width for width in shapes.get_linewidths()])  # type: ignore[attr-defined]
        note = figure.get_supxlabel()
        if note:
            figure.supxlabel("").set_in_layout(False)
        for text in figure.findobj(Text):
            if isinstance(text, Text) and text.get_text():
                text.set_text(set_signs(text.get_text()))
                if self.fonts == "cm" and not SAFE.fullmatch(re.sub(r"\$[^$]*\$", "", text.get_text())):
                    text.set_fontfamily(TIMES)
        return " ".join(note.split())


def set_signs(text: str) -> str:
    """Return a text whose signs that letter fonts lack are formulas: ``3 × 10⁻⁵`` is ``3 $\\times$ 10$^{-5}$``."""
    parts = re.split(r"(\$[^$]*\$)", text)
    if text.count("$") % 2:
        return text
    for number in range(0, len(parts), 2):
        part = re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: f"$^{{{match[0].translate(RAISED)}}}$", parts[number])
        part = re.sub("[₀-₉]+", lambda match: f"$_{{{match[0].translate(LOWERED)}}}$", part)
        pieces = re.split(r"(\$[^$]*\$)", part)
        pieces[::2] = ["".join(f"${SIGNS[c]}$" if c in SIGNS else c for c in piece) for piece in pieces[::2]]
        parts[number] = "".join(pieces)
    return "".join(parts)


def current() -> Page | None:
    """Return the page that figures are drawn for; None for a screen."""
    return _page.get()


@contextlib.contextmanager
def drawing(page: Page | None) -> Iterator[None]:
    """Draw figures for a page until the block ends."""
    token = _page.set(page)
    try:
        yield
    finally:
        _page.reset(token)
