"""Sweeps in Python: runs of algorithms over grids of options and seeds, as one DataFrame."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from fedatlas.api.train import train
from fedatlas.errors import UserError
from fedatlas.experiments.runs import assign
from fedatlas.experiments.values import column_cells
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.problems import ProblemKind
from fedatlas.federation.problems.base import Problem
from fedatlas.registry.kinds import specification
from fedatlas.registry.options import native

if TYPE_CHECKING:
    import pandas as pd

Entry: TypeAlias = str | Algorithm | type[Algorithm]


def sweep(
    algorithms: Entry | Sequence[Entry] | Mapping[str, Entry],
    problem: Mapping[str, Any] | Problem | ProblemKind,
    axes: Mapping[str, Sequence[Any]] | None = None,
    *,
    seeds: Iterable[int] = (0,),
    **options: Any,
) -> "pd.DataFrame":
    """Train algorithms at all points of a grid, with several seeds.

    Args:
        algorithms: An algorithm as of `train`, a list of them, or a mapping from labels to them.
        problem: A problem as of `train`.
        axes: Values of each axis of the grid: an option of `train`, such as ``lr`` or ``local_steps``, also a part of
            one, such as ``participation.count``; or, for a specification, ``problem.`` and a key of it, such as
            ``problem.partition.alpha``.
        seeds: Seeds of the runs.
        **options: All other options of `train`, the same in all runs.

    Returns:
        A DataFrame with the rows of all runs: the columns ``algorithm``, the axes, ``seed`` and ``status``, and then
        those of `train`. `plot` draws a line for each algorithm at each point of the axes, or, with ``x`` an axis, the
        last value of each run against this axis.

    Raises:
        UserError: An argument of some run does not fit.

    >>> import fedatlas
    >>> problem = {"kind": "quadratic", "dim": 5, "similarity": 0.1}
    >>> frame = fedatlas.sweep(
    ...     ["fedavg", "scaffold"], problem, {"lr": [0.01, 0.03]}, seeds=range(2), clients=4, rounds=5, batch=None
    ... )
    >>> frame.groupby(["algorithm", "lr"])["seed"].nunique().tolist()
    [2, 2, 2, 2]
    >>> fedatlas.plot(frame, x="lr").get_xlabel()
    'step size $η$'
    """
    import pandas as pd

    named: dict[str, Any]
    if isinstance(algorithms, Mapping):
        named = {str(label): entry for label, entry in algorithms.items()}
    else:
        several: list[Any] = [*algorithms] if isinstance(algorithms, (list, tuple)) else [algorithms]
        named = {entry if isinstance(entry, str) else entry.name: entry for entry in several}
        if len(named) < len(several):
            raise UserError("sweep: two algorithms have one name; give a mapping from labels to algorithms")
    grid = {axis: [specification(native(value)) for value in values] for axis, values in (axes or {}).items()}
    columns = {axis: column_cells(values) for axis, values in grid.items()}
    frames: list[pd.DataFrame] = []
    about = {}
    for (id, algorithm), *values, seed in itertools.product(named.items(), *grid.values(), seeds):
        parts = {"setting": specification(options), "parameters": {}, "problem": specification(problem)}  # copies
        point = dict(zip(grid, values, strict=True))
        assign(parts, point)
        frame = train(algorithm, parts["problem"], seed=seed, **parts["setting"], **parts["parameters"])
        label = id if isinstance(algorithms, Mapping) else frame.attrs["label"]
        about[id] = {"algorithm": frame.attrs["spec"]["algorithm"], "label": label}
        cells = {axis: columns[axis](value) for axis, value in point.items()}
        placed = {"algorithm": id, **cells, "seed": seed, "status": frame.attrs["status"]}
        for at, (name, cell) in enumerate(placed.items()):
            frame.insert(at, name, cell)
        frame.attrs = {}  # pandas would compare the arrays among them
        frames.append(frame)
    if not frames:
        raise UserError("sweep: give one algorithm, one value of each axis and one seed at least")
    result = pd.concat(frames, ignore_index=True)
    result.attrs = {"algorithms": about}
    return result
