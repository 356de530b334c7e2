"""A plot of runs, in the style of the atlas."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments import labels
from fedatlas.experiments.scores import metric_columns
from fedatlas.federation.metrics import metric
from fedatlas.results.figures.convergence import curve_limits, mean_curve
from fedatlas.results.figures.description import DIVERGED, RC, Lines, describe_lines, styles
from fedatlas.results.figures.renderer import add_legend, draw_lines, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    Frames: TypeAlias = DataFrame | Mapping[str, DataFrame | Iterable[DataFrame]] | Iterable[DataFrame]

SIZE = (5.6, 3.6)  # inches
WIDE = 10  # ratio of the values of an axis from which its scale is logarithmic


def plot(frames: "Frames", x: str = "rounds", y: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Plot a metric of runs against a cost, each algorithm in its style in the atlas.

    Where there are several seeds, the line is their mean and the band goes from the smallest to the largest; with more
    than three lines it is bars. A cross marks where a curve diverged.

    Args:
        frames: The result of `train`; a list of such frames; a mapping from labels to them, or to lists of frames that
            differ in their seed; or the result of `sweep`, or the ``curves`` of `load_results`, which have a line for
            each algorithm at each point of the axes.
        x: A cost: ``rounds``, ``steps``, ``gradients``, ``samples``, ``vectors_up``, ``vectors_down``, ``bits_up``,
            ``bits_down`` or ``seconds``; or a metric, such as a number that the servers report; or an axis of numbers,
            against which the last value of each run is drawn.
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

    frame, entries = _collect(frames)
    axes = [name for name in frame.columns[: frame.columns.get_loc("seed")] if name != "algorithm"]
    cost = "round" if x == "rounds" or x in axes else x
    if cost not in frame:
        raise UserError(f"plot: x is {x!r}; it must be a cost{did_you_mean(x, list(labels.TIMES))}")
    if y is None:
        solved = "suboptimality" in frame and frame.groupby("algorithm")["suboptimality"].count().all()
        y = "suboptimality" if solved else "loss"
    if y not in (metrics := metric_columns(frame, axes)):
        raise UserError(f"plot: the frames have no metric {y!r}{did_you_mean(y, metrics)}")
    if x in axes:
        if frame[x].dtype.kind not in "iuf":
            raise UserError(f"plot: x is {x!r}, whose values are not numbers; keep one of them, and take a cost")
        frame = frame.groupby(["algorithm", *axes, "seed"], sort=False, dropna=False).tail(1).assign(round=frame[x])
    varied, points = [*axes], frame[["algorithm", *axes]].drop_duplicates()
    for name in axes[
        ::-1
    ]:  # what others decide is no axis, as the values that were tuned at each point, which stand last
        others = ["algorithm", *(other for other in varied if other != name)]
        if name != x and points.groupby(others, dropna=False)[name].nunique(dropna=False).max() == 1:
            varied.remove(name)
    varied = [name for name in varied if name != x]
    names, algorithms, parts, limiting = {}, {}, [], []
    for number, ((id, *cells), rows) in enumerate(frame.groupby(["algorithm", *varied], sort=False, dropna=False)):
        key = str(number)
        algorithms[key], label = entries.get(id, (id, id))
        names[key] = ", ".join([label, *map(labels.point, varied, cells)])
        curve = mean_curve(rows, y, [cost])
        if not len(curve):
            raise UserError(f"plot: {names[key]} has no value of {y}")
        diverged = bool((rows["status"] == "diverged").any())
        limiting.append(curve[:1] if diverged else curve)
        remark = ["" for _ in range(len(curve) - 1)] + [DIVERGED if diverged else ""]
        parts.append(curve.assign(algorithm=key, remark=remark))
    numbers, log = pd.concat(parts, ignore_index=True), metric(y).scale == "log"
    description = Lines(
        x={cost: labels.axis(x, {}) if x in axes else labels.cost(x)},
        y=("mean", labels.quantity(y)),
        lines=describe_lines(styles(algorithms), names),
        range=("low", "high") if numbers["seeds"].max() > 1 else None,
        logx=x in axes and 0 < WIDE * numbers[cost].min() <= numbers[cost].max(),
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


def _collect(frames: Any) -> tuple["DataFrame", dict[Any, tuple[str, str]]]:
    """Return all rows, with ``algorithm`` and axes before ``seed``, and each entry's algorithm and label by its id."""
    import pandas as pd

    if isinstance(frames, pd.DataFrame) and "algorithm" in frames:
        if missing := [name for name in ("seed", "round", "status") if name not in frames]:
            raise UserError(f"plot: the frame has no column {missing[0]!r}; give what train returned, or curves")
        about = frames.attrs.get("algorithms", {})
        return frames, {id: (entry["algorithm"], entry["label"]) for id, entry in about.items()}
    frames = [frames] if isinstance(frames, pd.DataFrame) else frames
    entries: dict[Any, tuple[str, str]] = {}
    parts = []
    for id, runs in frames.items() if isinstance(frames, Mapping) else enumerate(frames):
        for seed, run in enumerate([runs] if isinstance(runs, (pd.DataFrame, str)) else runs):
            if not isinstance(run, pd.DataFrame) or "round" not in run:
                raise UserError(f"plot: {run!r:.60} is not a DataFrame that fedatlas.train returned")
            algorithm = run.attrs.get("spec", {}).get("algorithm", "run")
            label = str(id) if isinstance(frames, Mapping) else run.attrs.get("label", algorithm)
            entries.setdefault(id, (algorithm, label))
            part = run.assign(status=run.attrs.get("status", "ok"))
            part.insert(0, "algorithm", id)
            part.insert(1, "seed", seed)
            part.attrs = {}  # pandas would compare the arrays among them
            parts.append(part)
    return pd.concat(parts, ignore_index=True), entries
