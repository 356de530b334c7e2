"""What kinds of figure share: the registry, the rows they draw, panels, legend."""

import math
import re
from dataclasses import dataclass

import numpy as np

from fedatlas import labels
from fedatlas.errors import UserError
from fedatlas.experiments.selection import matching, numeric
from fedatlas.figures import style

KINDS = {}
FLOOR = 1e-16  # below this a suboptimality in double precision is rounding error, of either sign
NOTE_COLOUR = "#666666"
DOTS = (0, (1, 1.5))  # of what theorems say; no algorithm has them


def kind(name, needs=(), takes=()):
    """Register a drawing function. needs, takes: keys of the figure's specification, besides kind and caption."""

    def register(function):
        function.needs, function.takes = tuple(needs), (*needs, *takes)
        KINDS[name] = function
        return function

    return register


@dataclass
class Sheet:
    """What a figure is drawn from. spec: the figure's entry. about, table, curves: of tables.build."""

    spec: dict
    about: dict
    table: object
    curves: object
    partitions: list | None = None
    availability: list | None = None
    numbers: object = None  # a DataFrame of what is shown, where a kind gives it

    def __post_init__(self):
        entries = self.about["algorithms"]
        every = style.styles(entries)
        drawn = self.spec.get("algorithms") or list(entries)
        for id in drawn:
            if id not in entries:
                raise UserError(f"figure: {id!r} is not an algorithm of the experiment (they are {', '.join(entries)})")
        self.styles = {id: every[id] for id in entries if id in drawn}
        subscript = r"(?<!\w)([^\W_])_(\w)(?!\w)"
        self.names = {id: re.sub(subscript, r"$\1_\2$", style.name_of(id, entries[id])) for id in self.styles}

    @property
    def y(self):
        """The metric drawn."""
        return self.spec.get("y", self.about["select"]["metric"])

    @property
    def log(self):
        """Whether the y-axis is logarithmic."""
        scale = self.spec.get("yscale")
        return scale == "log" if scale else labels.is_log(self.y)

    def rows(self, frame, free=()):
        """Rows of frame that the figure draws. free: axes that may vary besides the panel's."""
        self.column(frame, *self.spec.get("where", {}), *filter(None, [self.spec.get("panel")]))
        frame = matching(frame[frame["algorithm"].isin(list(self.styles))], self.spec.get("where"))
        if frame.empty:
            raise UserError("figure: no rows are left to draw; see its where and algorithms")
        for axis in self.about["axes"]:
            if axis not in (*free, self.spec.get("panel")) and frame[axis].nunique() > 1:
                raise UserError(f"figure: {axis} has several values; choose one in where, or give each a panel")
        return frame

    def column(self, frame, *names):
        """Raise UserError if a column is missing."""
        for name in names:
            if name not in frame:
                raise UserError(f"figure: there is no {name!r} in the results")

    def panels(self, frame):
        """(title, rows) of every panel, numbers in order."""
        axis = self.spec.get("panel")
        if axis is None:
            return [("", frame)]
        values = list(dict.fromkeys(frame[axis]))
        if numeric(frame[axis]):
            values.sort()
        titles = [re.sub(r"\b(\w) = ", r"$\1$ = ", labels.point(axis, value)) for value in values]
        return [(title, frame[frame[axis] == value]) for title, value in zip(titles, values, strict=True)]

    @property
    def seeds(self):
        return len(self.about["seeds"])

    def note(self, lines=True):
        """What lines and bands, or points and bars, are, for the foot of the figure."""
        mean, spread = ("Lines", "bands") if lines else ("Points", "bars")
        return f"{mean}: mean over {self.seeds} seeds; {spread}: smallest to largest." if self.seeds > 1 else ""


def blank(size):
    """An empty figure of (width, height) inches, which no window and no pyplot knows of."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06)
    FigureCanvasAgg(figure)
    return figure


def grid(count, share_x=True):
    """A figure and its axes, one for each of count panels, y shared."""
    columns = count if count <= 4 else 3 if count in (5, 6, 9) else 4
    rows = math.ceil(count / columns)
    width, height = {1: (5.6, 3.6), 2: (4.2, 3.1), 3: (3.15, 2.75), 4: (2.6, 2.5)}[columns]
    size = (width * columns, height * rows - 0.25 * (rows - 1) + 0.35)
    figure = blank(size)
    axes = figure.subplots(rows, columns, sharey=True, sharex=share_x, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.set_visible(False)
    for ax in axes[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
    return figure, axes[:count]


def label(axes, x, y):
    """Label the outer axes of a grid; y, which several rows share, once."""
    place = axes[0].get_subplotspec().get_gridspec()
    if place.nrows > 1:
        axes[0].figure.supylabel(y, fontsize=axes[0].yaxis.label.get_size())
    else:
        axes[0].set_ylabel(y)
    for ax in axes[max(0, len(axes) - place.ncols) :]:
        ax.set_xlabel(x)


def legend(figure, sheet, extra=()):
    """A legend above the panels, in the experiment's order. extra: further handles."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            markersize=look.size,
            label=sheet.names[id],
        )
        for id, look in sheet.styles.items()
    ]
    handles += extra
    widths = [0.62 + 0.078 * len(handle.get_label()) for handle in handles]
    columns = len(handles)
    while columns > 1 and _width(widths, columns) > figure.get_figwidth() - 0.3:
        columns -= 1
    columns = math.ceil(len(handles) / math.ceil(len(handles) / columns))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)


def _width(widths, columns):
    rows = math.ceil(len(widths) / columns)
    return sum(max(widths[start : start + rows]) for start in range(0, len(widths), rows))


def foot(figure, *notes):
    """Notes at the foot of a figure."""
    text = "  ".join(filter(None, notes))
    if text:
        figure.supxlabel(text, x=0.995, ha="right", fontsize=8, color=NOTE_COLOUR)


def mark(text, **look):
    """A legend handle that is a marker alone."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", color=NOTE_COLOUR, label=text, **look)


def limits(values, log):
    """Limits of an axis that hold all finite values with a margin."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if log:
        margin = (high / low) ** 0.06 if high > low else 2
        return low / margin, high * margin
    margin = 0.06 * (high - low) or 0.5 * abs(high) or 1
    return low - margin, high + margin
