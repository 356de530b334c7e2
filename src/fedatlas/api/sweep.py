"""Sweeps in Python: runs of algorithms over grids of options and seeds, as one DataFrame."""

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from fedatlas.api.train import train
from fedatlas.errors import UserError
from fedatlas.experiments import axis_values
from fedatlas.experiments.runs import assign
from fedatlas.federation.algorithms import Algorithm, get
from fedatlas.federation.problems import Problem, ProblemKind
from fedatlas.registry.kinds import specification
from fedatlas.registry.validation import native

if TYPE_CHECKING:
    import pandas as pd

Entry: TypeAlias = str | Algorithm | type[Algorithm]
PROBLEM = "problem."


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

    problem, options = specification(problem), specification(options)
    grid = _axes(axes or {}, problem)
    if not isinstance(seeds, Iterable) or not (seeds := list(seeds)):
        raise UserError(f"sweep: seeds is {seeds!r:.60}; it must be a list of one seed at least")
    columns = {axis: axis_values.column(values) for axis, values in grid.items()}
    entries, frames = _entries(algorithms), []
    for (id, algorithm), *values, seed in itertools.product(entries.items(), *grid.values(), seeds):
        point = dict(zip(grid, values, strict=True))
        spec, arguments = _placed(problem, options, point)
        frame = train(algorithm, spec, seed=seed, **arguments)
        status = frame.attrs["status"]
        frame.attrs = {}  # pandas would compare the arrays among them
        cells = {axis: columns[axis](value) for axis, value in point.items()}
        for at, (name, cell) in enumerate({"algorithm": id, **cells, "seed": seed, "status": status}.items()):
            frame.insert(at, name, cell)
        frames.append(frame)
    result = pd.concat(frames, ignore_index=True)
    classes = {id: get(entry) if isinstance(entry, str) else entry for id, entry in entries.items()}
    about = {id: {"algorithm": cls.name, "label": cls.label if id == cls.name else id} for id, cls in classes.items()}
    result.attrs = {"algorithms": about, "axes": list(grid)}
    return result


def _entries(algorithms: Entry | Sequence[Entry] | Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the algorithms by id: the label of a mapping, else the name."""
    if isinstance(algorithms, Mapping) and algorithms:
        return {str(label): entry for label, entry in algorithms.items()}
    several: list[Any] = [*algorithms] if isinstance(algorithms, (list, tuple, Mapping)) else [algorithms]
    if not several:
        raise UserError("sweep: algorithms is empty; give one at least")
    entries = {entry if isinstance(entry, str) else str(getattr(entry, "name", entry)): entry for entry in several}
    if len(entries) < len(several):
        raise UserError("sweep: two algorithms have one name; give a mapping from labels to algorithms")
    return entries


def _axes(axes: Mapping[str, Sequence[Any]], problem: Any) -> dict[str, list[Any]]:
    """Return the values of each axis.

    Raises:
        UserError: An axis has no values, or is one of specifications where the problem is none.
    """
    grid = {}
    for axis, values in axes.items():
        listed = isinstance(values, Iterable) and not isinstance(values, (str, Mapping))
        grid[axis] = [specification(native(value)) for value in values] if listed else []
        if not grid[axis]:
            raise UserError(f"sweep: the axis {axis!r} is {values!r:.60}; it must be a list of values")
        if axis.startswith(PROBLEM) and not isinstance(problem, Mapping):
            raise UserError(f"sweep: {axis} is an axis of specifications, and problem is a {type(problem).__name__}")
    return grid


def _placed(problem: Any, options: Mapping[str, Any], point: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return problem and options of a run at a point of the axes."""
    parts: dict[str, Any] = {"setting": copy.deepcopy(dict(options)), "parameters": {}, "problem": problem}
    if isinstance(problem, Mapping):
        parts["problem"] = copy.deepcopy(dict(problem))
    for axis, value in point.items():
        assign(parts, axis, value)
    return parts["problem"], parts["setting"] | parts["parameters"]
