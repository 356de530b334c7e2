"""Figures and claims of an experiment, checked before any job runs: a wrong name is an error, with a guess.

Options of figures and checks declare what their values name (``names`` of `fedatlas.registry.options.Option`); here these names
are looked up in the experiment. No kind of figure or check is known by name.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fedatlas.errors import UserError, did_you_mean, lookup
from fedatlas.experiments import expansion
from fedatlas.experiments.axis_values import are_numbers, matches
from fedatlas.experiments.cells import Axes, Cell, Run, Spec
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.labels import COSTS, TIMES
from fedatlas.experiments.runs import runs
from fedatlas.experiments.selection import EXTREMES, select_points
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.validation import reported_metrics
from fedatlas.federation import algorithms
from fedatlas.federation.engine.recording import PARTS
from fedatlas.federation.partitions import is_split
from fedatlas.registry.bibliography import reference
from fedatlas.registry.extensions import describe
from fedatlas.registry.kinds import Kind
from fedatlas.results.claims import build
from fedatlas.results.claims.base import Check
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.base import Figure
from fedatlas.theory.closed_forms import LIMITS
from fedatlas.theory.comparison import RUN_BOUNDS
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.workflow import inputs


def validate(experiment: Experiment, cells: Sequence[Cell] | None = None) -> None:
    """Check what an experiment says of its paper, figures and claims.

    cells: of the experiment, if they are known. Raises UserError naming file and key.
    """
    cells = expansion.cells(experiment) if cells is None else cells
    metrics = list(dict.fromkeys(name for cell in cells for name in reported_metrics(cell.spec)))
    try:
        tuning = {id: expansion.tuned_values(experiment, id)[0] for id in experiment.algorithms}
        _within("paper", functools.partial(reference, experiment.paper))
        for id in experiment.algorithms:
            _cited(experiment.algorithm(id))
        for name, entry in experiment.figures.items():
            _within(f"figures.{name}", functools.partial(_figure, experiment, cells, metrics, tuning, entry.spec))
        for name, claim in experiment.claims.items():
            _within(f"claims.{name}", functools.partial(_claim, experiment, cells, metrics, tuning, claim))
    except UserError as error:
        raise UserError(f"{experiment.where}: {error}") from None


def _cited(name: str) -> None:
    """Look up what an algorithm cites. An algorithm of an extension may cite nothing."""
    found = algorithms.get(name)
    if key := getattr(found, "cite", None):
        _within(describe(f"algorithm {name}", found.__module__), functools.partial(reference, key))


def _within(place: str, check: Callable[[], object]) -> None:
    try:
        check()
    except UserError as error:
        raise UserError(f"{place}: {error}") from None


def _figure(
    experiment: Experiment, cells: Sequence[Cell], metrics: list[str], tuning: Mapping[str, Axes], spec: Spec
) -> None:
    figure = FIGURES.build(spec)
    _names(figure, experiment, metrics, tuning)
    _measured(figure, experiment)
    _theory(figure, experiment, cells)
    if "partitions" in figure.inputs:
        _partitioned(experiment)
    if figure.draws_results:
        _settled(figure, experiment)
    inputs.specify(figure, cells)


def _claim(
    experiment: Experiment, cells: Sequence[Cell], metrics: list[str], tuning: Mapping[str, Axes], claim: Claim
) -> None:
    for check in map(build, claim.checks):
        if claim.tested_at(experiment.size):  # elsewhere its axes and algorithms are those of other sizes
            _names(check, experiment, metrics, tuning)
            _measured(check, experiment)
            _theory(check, experiment, cells)


def _names(kind: Kind, experiment: Experiment, reported: list[str], tuning: Mapping[str, Axes]) -> None:
    """Look up what the options of a figure or check name.

    reported: names of the metrics of the runs. tuning: tuned hyper-parameters and their values, by id of an algorithm.
    """
    axes = {axis: axis for axis in experiment.axes}
    tuned = {name: name for id in _algorithms(kind, experiment) for name in tuning[id]}
    # all algorithms share a column of the table
    measured = {name: name for name in tuned if all(are_numbers(axes.get(name, [])) for axes in tuning.values())}
    metrics = dict.fromkeys(reported)
    recorded = [name.removesuffix(f"_{PARTS[0]}") for name in reported if name.endswith(f"_{PARTS[0]}")]
    known: dict[str, tuple[str, Mapping[str, Any]]] = {
        "metric": ("metric", metrics),
        "record": ("recorded value", dict.fromkeys(recorded)),
        "metric or tuned numbers": ("metric or hyper-parameter tuned over numbers", {**metrics, **measured}),
        "axis": ("axis of grid or within", axes),
        "axis of numbers": ("axis of numbers", {axis: axis for axis in axes if are_numbers(experiment.axes[axis])}),
        "cost": ("cost", COSTS),
        "cost or time": ("cost", TIMES),
        "tuned": ("tuned hyper-parameter", tuned),
        "tuned numbers": ("hyper-parameter tuned over numbers", measured),
        "axis or tuned": ("axis or tuned hyper-parameter", {**axes, **tuned}),
        "algorithm": ("algorithm of the experiment", experiment.algorithms),
        "algorithms": ("algorithm of the experiment", experiment.algorithms),
        "limit": ("limit", LIMITS),
        "theorem": ("theorem", RUN_BOUNDS),
    }
    for name, one in kind.options().items():
        value = getattr(kind, name)
        if value is None or one.names is None:
            continue
        if one.names == "where":
            _where(name, value, experiment.axes)
        elif one.names == "theorems":
            for id, theorem in value.items():
                _known(name, "algorithm of the experiment", [id], experiment.algorithms)
                _known(name, "theorem", [theorem], FEDAC_THEOREMS)
        elif one.names in known:
            what, names = known[one.names]
            _known(name, what, value if isinstance(value, (list, tuple, dict)) else [value], names)


def _measured(kind: Figure | Check, experiment: Experiment) -> None:
    for axis in kind.measures():
        if not are_numbers(experiment.axes.get(axis, [])):
            raise UserError(f"the values of {axis} must be numbers")


def _algorithms(kind: Kind, experiment: Experiment) -> list[str]:
    """Ids of the algorithms that a figure or check is about."""
    one, several = getattr(kind, "algorithm", None), getattr(kind, "algorithms", None)
    named = [one] if one is not None else several or list(experiment.algorithms)
    return [id for id in named if id in experiment.algorithms]


def _theory(kind: Figure | Check, experiment: Experiment, cells: Sequence[Cell]) -> None:
    """Whether what a figure or check asks of its runs is known of them."""
    kind.fits(_kept_runs(kind, _algorithms(kind, experiment), cells))


def _kept_runs(kind: Kind, ids: Sequence[str], cells: Sequence[Cell]) -> Iterator[tuple[str, Run]]:
    """Of each algorithm, by its id, a run at each point of the axes that a figure or check keeps."""
    found = []
    for cell in cells:
        if cell.id in ids:
            first = replace(cell.spec, seeds=cell.spec.seeds[:1], tune={k: v[:1] for k, v in cell.spec.tune.items()})
            found += [({**cell.point, **run.within}, cell.id, run) for run in runs(first)]
    for place in select_points([point for point, _, _ in found], getattr(kind, "where", None)):
        yield found[place][1:]


def _known(key: str, what: str, names: Iterable[Any], known: Mapping[str, Any]) -> None:
    for name in names:
        try:
            lookup(what, str(name) if what == "theorem" else name, known)
        except UserError as error:
            raise UserError(f"{key}: {error}") from None


def _where(key: str, where: Mapping[str, Any], axes: Mapping[str, list[Any]]) -> None:
    for axis, value in where.items():
        if axis not in axes:
            raise UserError(f"{key}: {axis!r} is not an axis of grid or within{did_you_mean(axis, axes)}")
        if value in EXTREMES and not are_numbers(axes[axis]) and value not in axes[axis]:
            raise UserError(f"{key}.{axis}: {value} needs an axis of numbers")


def _settled(figure: Figure, experiment: Experiment) -> None:
    """Whether every axis that the figure does not spread over is left with one value."""
    where, spread = getattr(figure, "where", None) or {}, figure.spreads()
    for axis, values in experiment.axes.items():
        left = _kept(where[axis], values) if axis in where else values
        if not left:
            raise UserError(f"where.{axis}: no run has the value {where[axis]!r}; there are {values}")
        if len(left) > 1 and axis not in spread and not figure.every_axis:
            raise UserError(f"where: {axis} has {len(left)} values: keep one of {left}, or make it the panel")


def _kept(value: Any, values: list[Any]) -> list[Any]:
    if value in EXTREMES and are_numbers(values):
        return values[:1]
    return [one for one, keep in zip(values, matches(values, value), strict=True) if keep]


def _partitioned(experiment: Experiment) -> None:
    how = [experiment.problem.get("partition"), *experiment.axes.get("problem.partition", [])]
    if not any(map(is_split, how)):
        raise UserError("kind: the experiment has no partition to draw: its data are not split over clients")
