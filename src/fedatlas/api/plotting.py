"""A plot of runs, in the style of the atlas."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments import labels
from fedatlas.experiments.scores import metric_columns
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.metrics import metric
from fedatlas.results.figures import style
from fedatlas.results.figures.convergence import average, end, limit, line
from fedatlas.results.figures.layout import mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    Frames: TypeAlias = DataFrame | Mapping[str, DataFrame | Iterable[DataFrame]] | Iterable[DataFrame]

PREFERRED = ("suboptimality", "loss")  # what y is by default, if all frames have it
SIZE = (5.6, 3.6)  # inches


class Line(NamedTuple):
    """What one line shows. rows: of one algorithm, with ``seed`` and ``status``."""

    label: str
    algorithm: str
    rows: "DataFrame"


def plot(frames: "Frames", x: str = "rounds", y: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Plot a metric of runs against a cost, each algorithm in its look in the atlas; returns the matplotlib Axes.

    frames: what `train` returned; a list of such frames; a mapping from labels to frames, or to lists of frames that
    differ in their seed; or the ``curves`` of `load_results`, in which every algorithm has one point of the axes. Where
    there are several seeds, the line is their mean and the band goes from the smallest to the largest; with more than
    five lines it is bars. x: ``rounds``,
    ``steps``, ``gradients``, ``samples``, ``vectors_up``, ``vectors_down`` or ``seconds``. y: a metric, by default
    suboptimality, or loss where it is unknown. ax: to draw in; by default those of a new figure. A cross marks where a
    curve diverged. Raises UserError on frames that do not fit.

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

    if x not in labels.COSTS:
        raise UserError(f"plot: x is {x!r}; it must be a cost{did_you_mean(x, list(labels.COSTS))}")
    lines = _lines(frames)
    y, cost = _metric(lines, y), "round" if x == "rounds" else x
    for one in lines:
        if cost not in one.rows:
            raise UserError(f"plot: {one.label} has no column {cost!r}")
    log, looks = metric(y).scale == "log", style.styles({at: one.algorithm for at, one in enumerate(lines)})
    with matplotlib.rc_context(style.RC):
        ax = _blank() if ax is None else ax
        if log:
            ax.set_yscale("log")
        drawn, ends, handles = [], [], []
        for at, one in enumerate(lines):
            curve = average(one.rows, cost, y)
            if not len(curve):
                raise UserError(f"plot: {one.label} has no value of {y}")
            handles.append(line(ax, curve, looks[at], (at, len(lines)), log, one.rows["seed"].nunique() > 1))
            handles[-1].set_label(one.label)
            diverged = (one.rows["status"] == "diverged").any()
            drawn.append(curve[:1] if diverged else curve)
            ends += [(curve, looks[at])] if diverged else []
        limit([ax], drawn, log)
        for curve, look in ends:
            end(ax, curve, look)
        ax.set(xlabel=labels.COSTS[x], ylabel=labels.quantity(y), xlim=(0, None))
        ax.legend(handles=[*handles, *([mark("diverged", marker="x")] if ends else [])])
    return ax


def _blank() -> "Axes":
    from matplotlib import pyplot

    return pyplot.subplots(figsize=SIZE, layout="constrained")[1]


def _metric(lines: list[Line], y: str | None) -> str:
    """The metric that is drawn."""
    common = [name for name in metric_columns(lines[0].rows) if all(name in one.rows for one in lines)]
    if y is None:
        y = next((name for name in PREFERRED if name in common and lines[0].rows[name].notna().any()), PREFERRED[-1])
    if y not in common:
        raise UserError(f"plot: not all frames have the metric {y!r}{did_you_mean(y, common)}")
    return y


def _lines(frames: Any) -> list[Line]:
    import pandas as pd

    if isinstance(frames, pd.DataFrame):
        found = _of_curves(frames) if "algorithm" in frames else [_of_runs([frames])]
    elif isinstance(frames, Mapping):
        found = [
            _of_runs([those] if isinstance(those, pd.DataFrame) else those, str(label))
            for label, those in frames.items()
        ]
    elif isinstance(frames, Iterable) and not isinstance(frames, str):
        found = [_of_runs([frame]) for frame in frames]
    else:
        raise UserError(f"plot: frames is {frames!r:.60}; it must be a DataFrame, or a list or mapping of them")
    if not found:
        raise UserError("plot: there is no frame to plot")
    return found


def _of_runs(runs: Any, label: str | None = None) -> Line:
    """The line of runs that differ in their seed. label: by default that of their algorithm."""
    import pandas as pd

    runs = list(runs) if isinstance(runs, Iterable) and not isinstance(runs, str) else [runs]
    if not runs or not all(isinstance(run, pd.DataFrame) and "round" in run for run in runs):
        raise UserError(
            f"plot: {label or 'a frame'} is not a DataFrame that fedatlas.train returned, or a list of them"
        )
    if all("algorithm" in run for run in runs):
        (one, *others) = [one for run in runs for one in _of_curves(run)]
        if others:
            raise UserError(f"plot: {label or 'a frame'} holds several algorithms; keep one of them")
        return one._replace(label=label or one.label)
    algorithm = runs[0].attrs.get("spec", {}).get("algorithm", label or "run")
    rows = [run.assign(seed=at, status=run.attrs.get("status", "ok")) for at, run in enumerate(runs)]
    for frame in rows:
        frame.attrs = {}  # of which pandas would compare arrays
    return Line(label or runs[0].attrs.get("label") or _label(algorithm), algorithm, pd.concat(rows, ignore_index=True))


def _of_curves(curves: "DataFrame") -> list[Line]:
    """The lines of curves, one for each algorithm."""
    lacking = [name for name in ("seed", "round", "status") if name not in curves]
    if lacking:
        raise UserError(f"plot: the frame has no column {lacking[0]!r}; give what train returned, or curves of results")
    if curves.duplicated(["algorithm", "seed", "round"]).any():
        axes = [name for name in curves.columns[: list(curves).index("seed")] if name != "algorithm"]
        each = curves.groupby("algorithm")[axes].nunique(dropna=False)
        several = [name for name in axes if each[name].max() > 1] or axes
        raise UserError(f"plot: the curves have several values of {', '.join(several)}; keep one of each")
    known = curves.attrs.get("algorithms", {})
    return [
        Line(known.get(id, {}).get("label") or _label(id), known.get(id, {}).get("algorithm", id), rows)
        for id, rows in curves.groupby("algorithm", sort=False)
    ]


def _label(algorithm: str) -> str:
    """An algorithm's name for people; the name itself where there is no such algorithm."""
    try:
        return getattr(ALGORITHMS.get(algorithm), "label", algorithm)
    except UserError:
        return algorithm
