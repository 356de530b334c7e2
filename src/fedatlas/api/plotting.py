"""A plot of runs, in the style of the atlas."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments import labels
from fedatlas.experiments.scores import metric_columns
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.metrics import metric
from fedatlas.results.figures.convergence import curve_limits, mean_curve
from fedatlas.results.figures.description import DIVERGED, Lines, describe_lines
from fedatlas.results.figures.renderer import add_legend, draw_lines, words
from fedatlas.results.figures.style import RC, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame, Series

    Frames: TypeAlias = DataFrame | Mapping[str, DataFrame | Iterable[DataFrame]] | Iterable[DataFrame]

PREFERRED = ("suboptimality", "loss")  # default metrics, if all frames have them
SIZE = (5.6, 3.6)  # inches


class PlotLine(NamedTuple):
    """A line of a plot.

    Attributes:
        label: Name in the legend.
        algorithm: Name of the algorithm, which decides the style.
        rows: Rows of one algorithm, with ``seed`` and ``status``.
    """

    label: str
    algorithm: str
    rows: "DataFrame"


def plot(frames: "Frames", x: str = "rounds", y: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Plot a metric of runs against a cost, each algorithm in its style in the atlas.

    Where there are several seeds, the line is their mean and the band goes from the smallest to the largest; with more
    than three lines it is bars. A cross marks where a curve diverged.

    Args:
        frames: The result of `train` or `sweep`; a list of frames of `train`; a mapping from labels to frames, or to
            lists of frames that differ in their seed; or the ``curves`` of `load_results`, in which each algorithm has
            one point of the axes.
        x: A cost: ``rounds``, ``steps``, ``gradients``, ``samples``, ``vectors_up``, ``vectors_down``, ``bits_up``,
            ``bits_down`` or ``seconds``; or a metric, such as a number that the servers report; or, for
            a sweep, an axis of numbers, against which the last value of each run is drawn.
        y: A metric; by default suboptimality, or loss where it is unknown.
        ax: Axes to draw in; by default those of a new figure.

    Returns:
        The matplotlib Axes.

    Raises:
        UserError: The frames do not fit.

    >>> import fedatlas
    >>> problem = {"kind": "quadratic", "dim": 5, "similarity": 0.1}
    >>> runs = [fedatlas.train(name, problem, clients=4, rounds=10, batch=None, lr="1/L") for name in ("gd", "fedavg")]
    >>> ax = fedatlas.plot(runs, x="gradients")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['GD', 'FedAvg']
    >>> ax.get_xlabel()
    'gradients per active client'
    """
    import matplotlib
    import pandas as pd

    swept = x in _axes(frames)
    lines = _lines(frames, x if swept else "")
    if not swept and x not in labels.TIMES and not all(x in metric_columns(line.rows) for line in lines):
        raise UserError(f"plot: x is {x!r}; it must be a cost{did_you_mean(x, list(labels.TIMES))}")
    y, cost = _metric(lines, y), "round" if x == "rounds" or swept else x
    for line in lines:
        if cost not in line.rows:
            raise UserError(f"plot: {line.label} has no column {cost!r}")
    looks = styles({str(i): line.algorithm for i, line in enumerate(lines)})
    log, parts, limiting = metric(y).scale == "log", [], []
    for id, line in zip(looks, lines, strict=True):
        curve = mean_curve(line.rows, y, [cost])
        if not len(curve):
            raise UserError(f"plot: {line.label} has no value of {y}")
        diverged = bool((line.rows["status"] == "diverged").any())
        limiting.append(curve[:1] if diverged else curve)
        remark = ["" for _ in range(len(curve) - 1)] + [DIVERGED if diverged else ""]
        parts.append(curve.assign(algorithm=id, remark=remark))
    numbers = pd.concat(parts, ignore_index=True)
    description = Lines(
        x={cost: labels.axis(x, {}) if swept else labels.cost(x)},
        y=("mean", labels.quantity(y)),
        lines=describe_lines(looks, dict(zip(looks, (line.label for line in lines), strict=True))),
        range=("low", "high") if any(line.rows["seed"].nunique() > 1 for line in lines) else None,
        logx=swept and _steps_grow(numbers[cost]),
        logy=log,
        remark="remark",
        limits=curve_limits(limiting, log),
    )
    with matplotlib.rc_context(RC):
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(figsize=SIZE, layout="constrained")[1]
        chart = description.to_dict()
        draw_lines(ax, chart, numbers)
        ax.set(xlabel=words(description.x[cost]), ylabel=words(description.y[1]))
        add_legend(ax, [ax], chart, numbers)
    return ax


def _metric(lines: list[PlotLine], y: str | None) -> str:
    """Return the metric of the plot."""
    common = [name for name in metric_columns(lines[0].rows) if all(name in line.rows for line in lines)]
    if y is None:
        y = next((name for name in PREFERRED if name in common and lines[0].rows[name].notna().any()), PREFERRED[-1])
    if y not in common:
        raise UserError(f"plot: not all frames have the metric {y!r}{did_you_mean(y, common)}")
    return y


def _axes(frames: Any) -> list[str]:
    """Return the axes of a frame of `sweep`."""
    import pandas as pd

    return frames.attrs.get("axes", []) if isinstance(frames, pd.DataFrame) else []


def _steps_grow(values: "Series") -> bool:
    """Return whether an axis has positive numbers whose steps grow, so that its scale is logarithmic."""
    steps = sorted(set(values))
    return len(steps) > 2 and steps[0] > 0 and steps[-1] - steps[-2] > 1.5 * (steps[1] - steps[0])


def _lines(frames: Any, x: str = "") -> list[PlotLine]:
    """Return the lines of frames. x: Axis of a sweep, against which the last values of runs are drawn."""
    import pandas as pd

    if isinstance(frames, pd.DataFrame) and frames.empty:
        raise UserError("plot: the frame has no rows")
    if _axes(frames):
        lines = _lines_of_sweep(frames, x)
    elif isinstance(frames, pd.DataFrame):
        lines = _lines_of_curves(frames) if "algorithm" in frames else [_line_of_runs([frames])]
    elif isinstance(frames, Mapping):
        lines = [
            _line_of_runs([runs] if isinstance(runs, pd.DataFrame) else runs, str(label))
            for label, runs in frames.items()
        ]
    elif isinstance(frames, Iterable) and not isinstance(frames, str):
        lines = [_line_of_runs([frame]) for frame in frames]
    else:
        raise UserError(f"plot: frames is {frames!r:.60}; it must be a DataFrame, or a list or mapping of them")
    if not lines:
        raise UserError("plot: there is no frame to plot")
    return lines


def _line_of_runs(runs: Any, label: str | None = None) -> PlotLine:
    """Return the line of runs that differ in their seed; the label is by default that of their algorithm."""
    import pandas as pd

    runs = list(runs) if isinstance(runs, Iterable) and not isinstance(runs, str) else [runs]
    if not runs or not all(isinstance(run, pd.DataFrame) and "round" in run for run in runs):
        raise UserError(
            f"plot: {label or 'a frame'} is not a DataFrame that fedatlas.train returned, or a list of them"
        )
    if all("algorithm" in run for run in runs):
        (line, *surplus) = [line for run in runs for line in _lines_of_curves(run)]
        if surplus:
            raise UserError(f"plot: {label or 'a frame'} holds several algorithms; keep one of them")
        return line._replace(label=label or line.label)
    algorithm = runs[0].attrs.get("spec", {}).get("algorithm", label or "run")
    rows = [run.assign(seed=number, status=run.attrs.get("status", "ok")) for number, run in enumerate(runs)]
    for frame in rows:
        frame.attrs = {}  # pandas would compare the arrays among them
    label = label or runs[0].attrs.get("label") or _label(algorithm)
    return PlotLine(label, algorithm, pd.concat(rows, ignore_index=True))


def _lines_of_curves(curves: "DataFrame") -> list[PlotLine]:
    """Return the lines of curves, one for each algorithm."""
    missing = [name for name in ("seed", "round", "status") if name not in curves]
    if missing:
        raise UserError(f"plot: the frame has no column {missing[0]!r}; give what train returned, or curves of results")
    if curves.duplicated(["algorithm", "seed", "round"]).any():
        axes = [name for name in curves.columns[: list(curves).index("seed")] if name != "algorithm"]
        counts = curves.groupby("algorithm")[axes].nunique(dropna=False)
        several = [name for name in axes if counts[name].max() > 1] or axes
        raise UserError(f"plot: the curves have several values of {', '.join(several)}; keep one of each")
    entries = curves.attrs.get("algorithms", {})
    return [
        PlotLine(entries.get(id, {}).get("label") or _label(id), entries.get(id, {}).get("algorithm", id), rows)
        for id, rows in curves.groupby("algorithm", sort=False)
    ]


def _lines_of_sweep(frame: "DataFrame", x: str) -> list[PlotLine]:
    """Return the lines of a sweep: one for each algorithm at each point of the axes, but for the axis x."""
    axes, entries = [axis for axis in _axes(frame) if axis != x], frame.attrs["algorithms"]
    if x:
        if frame[x].dtype.kind not in "iuf":
            raise UserError(f"plot: x is {x!r}, whose values are not numbers; keep one of them, and take a cost")
        ends = frame.groupby(["algorithm", *_axes(frame), "seed"], sort=False).tail(1)
        frame = ends.assign(round=ends[x])
    varied = [axis for axis in axes if frame[axis].nunique() > 1]
    lines = []
    for (id, *cells), rows in frame.groupby(["algorithm", *varied], sort=False):
        label = ", ".join([entries[id]["label"], *map(labels.point, varied, cells)])
        lines.append(PlotLine(label, entries[id]["algorithm"], rows))
    return lines


def _label(algorithm: str) -> str:
    """Return an algorithm's name for people; the name itself where there is no such algorithm."""
    try:
        return getattr(ALGORITHMS.get(algorithm), "label", algorithm)
    except UserError:
        return algorithm
