"""Expansion of an experiment into cells: one algorithm at one setting, with all tuning values and seeds inside."""

import copy
import functools
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from fedatlas.data.sources import info
from fedatlas.errors import Undefined, UserError, name_place
from fedatlas.experiments import validation
from fedatlas.experiments.advice import search_space, with_advice
from fedatlas.experiments.cells import CASE, Axes, Cell, CellSpec, Point, Space, Spec, has_choice
from fedatlas.experiments.dependencies import canonical_parameters, canonical_problem, canonical_setting
from fedatlas.experiments.runs import SETTING, assign, in_part, product
from fedatlas.experiments.scores import NO_METRICS
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.experiments.tuning.trials import draw
from fedatlas.experiments.values import is_number
from fedatlas.experiments.view import AlgorithmView, ExperimentView, merge
from fedatlas.federation import problems
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.channels import CHANNELS, directions
from fedatlas.federation.engine.history import LOCAL_LOSS
from fedatlas.federation.partitions import is_by_owner, number_of_clients
from fedatlas.federation.problems import PROBLEMS, varies_by_seed

DRAWN = ("batch", "participation", "topology", "channel")  # keys of the setting that say what a run draws
MOST_FILES, MOST_RUNS = 20_000, 100_000  # run files of an experiment; runs of a file for each seed


class Expansion(NamedTuple):
    """The cells of an experiment. undefined: by id of an algorithm and case, why there are none."""

    cells: list[Cell]
    undefined: dict[str, dict[str, str]]


def cells(experiment: Experiment) -> list[Cell]:
    """Return all cells of an experiment; see `expand`."""
    return expand(experiment).cells


def expand(experiment: Experiment) -> Expansion:
    """Expand an experiment into its cells, and build every combination of values once, so that no job fails on one.

    An algorithm that is not defined for a case has no cells there.

    Raises:
        UserError: A value does not fit, or an algorithm is defined for no case. The sentence names the file.
    """
    experiment_cells: list[Cell] = []
    undefined: dict[str, dict[str, str]] = {}
    with name_place(experiment.where):
        for id in experiment.algorithms:
            _check_axes({"grid": experiment.grid, "within": experiment.within, "tune": tuned_values(experiment, id)[0]})
        _count(experiment)
        for point in product(experiment.grid):
            for id in experiment.algorithms:
                try:
                    experiment_cells += _split(_cell(experiment, id, point), experiment.parts)
                except Undefined as reason:
                    if CASE not in point:
                        raise
                    undefined.setdefault(id, {})[point[CASE]] = str(reason)
        for id, cases in undefined.items():
            if cases.keys() == experiment.cases.keys():
                first, why = next(iter(cases.items()))
                raise UserError(f"algorithms.{id}: it is not defined for any case; case {first}: {why}")
        for (_, key), count in Counter((cell.id, cell.key) for cell in experiment_cells).items():
            if count > 1:
                raise UserError(
                    f"grid: two points would share the run file {key}.parquet; make their values differ more"
                )
    return Expansion(experiment_cells, undefined)


def tuned_values(
    experiment: Experiment, id: str, problem: Spec | None = None, setting: Mapping[str, Any] | None = None
) -> tuple[Axes, Space | None]:
    """Return the tuned hyper-parameters of an entry with their values, and the space of trials or None.

    problem, setting: specifications of a cell's; by default the experiment's. Raises UserError if a hyper-parameter has
    no range.
    """
    entry, grid = experiment.algorithms[id], experiment.tuning_grid(id)
    if not experiment.trials:
        return grid, None
    if grid:
        raise UserError(f"algorithms.{id}: trials take the place of tune; give ranges in search, or leave trials out")
    algorithm = ALGORITHMS.get(experiment.algorithm(id))
    kind = PROBLEMS.split(experiment.problem)[0]
    constants = PROBLEMS.get(kind).constants if problem is None else problems.parse(problem)[0].available_constants()
    space = search_space(algorithm, entry.set, entry.search, setting or experiment.setting, constants)
    of_each = TUNING_RULES.build(experiment.tuning, "trials").needs_trials
    return _draw(algorithm, json.dumps(space), experiment.trials * (len(space) if of_each else 1)), space or None


@functools.lru_cache(1000)
def _draw(algorithm: type[Algorithm], space: str, trials: int) -> Axes:
    """Return the trials of a space, which many cells share. space: As JSON."""
    return draw(json.loads(space), algorithm.options(), trials)


def create_view(experiment: Experiment, undefined: dict[str, dict[str, str]] | None = None) -> ExperimentView:
    """Return the view of an experiment that tables, figures and claims have.

    undefined: where algorithms are not defined; see `Expansion`. Raises UserError, naming the file, if one is unknown.
    """
    with name_place(experiment.where):
        views = {id: _algorithm_view(experiment, id) for id in experiment.algorithms}
    names = {name for algorithm in views.values() for name in algorithm.tune} | set(experiment.tune)
    return ExperimentView(
        name=experiment.name,
        size=experiment.size,
        axes=list(experiment.axes),
        tune=sorted(names),
        select=experiment.select,
        problem=canonical_problem(experiment.problem),
        setting=canonical_setting(experiment.setting),
        seeds=experiment.first_seeds,
        analyses=experiment.analyses,
        algorithms=views,
        cases={name: case.label or name for name, case in experiment.cases.items()},
        undefined=undefined or {},
    )


def _count(experiment: Experiment) -> None:
    """Raise UserError if there are more run files or runs than a workflow can have."""
    points, inside = (prod(map(len, axes.values())) for axes in (experiment.grid, experiment.within))
    files = points * experiment.parts * len(experiment.algorithms)
    if files > MOST_FILES:
        raise UserError(f"grid and parts make {files:,} run files; at most {MOST_FILES:,} are allowed")
    for id in experiment.algorithms:
        runs = inside * (experiment.trials or prod(map(len, experiment.tuning_grid(id).values())))
        if runs > MOST_RUNS:
            raise UserError(
                f"within and tune make {runs:,} runs of {id} for each seed in a run file; at most {MOST_RUNS:,} are "
                "allowed: use grid"
            )


def _algorithm_view(experiment: Experiment, id: str) -> AlgorithmView:
    entry, algorithm = experiment.algorithms[id], experiment.algorithm(id)
    kind = ALGORITHMS.get(algorithm)
    name: str = getattr(kind, "label", id) if id == algorithm else id
    tune, setting = tuned_values(experiment, id)[0], {**experiment.setting, **entry.setting}
    return AlgorithmView(
        algorithm=algorithm,
        name=entry.label or name,
        set=canonical_parameters(algorithm, entry.set),
        tune=tune,
        setting=entry.setting,
        untuned=_untuned_parameters(experiment, id, tune),
        deterministic=draws_nothing(algorithm, entry.set, experiment.problem, setting, experiment.axes),
        emphasis=entry.emphasis,
    )


def draws_nothing(
    algorithm: str,
    values: Mapping[str, Any],
    problem: Mapping[str, Any],
    setting: Mapping[str, Any],
    axes: Collection[str],
) -> bool:
    """Return whether runs are the same for all seeds.

    They are with full gradients, full participation, one start and channels that draw nothing, if the algorithm tosses
    no coins. Where one of ``axes``, along which all of these vary, decides one of them, they are not.

    values: hyper-parameters that are set. problem, setting: specifications.
    """
    firsts = {axis.split(".")[0] for axis in axes}
    if CASE in firsts or firsts & set(DRAWN) or "problem.start_scale" in axes or varies_by_seed(problem):
        return False
    name, options = PROBLEMS.split(problem)
    kind = PROBLEMS.get(name)
    scale = kind.options().get("start_scale")
    return (
        setting.get("batch", 1) is None
        and setting.get("participation", "full") in ("full", {"kind": "full"})
        and setting.get("topology") is None
        and not any(channel.random for channel in directions(setting.get("channel")))
        and (kind.fixed_start if scale is None else options.get("start_scale", scale.default) == 0)
        and not _tosses_coins(ALGORITHMS.get(algorithm), values)
    )


def _untuned_parameters(experiment: Experiment, id: str, tune: Axes) -> list[str]:
    """Return those that are fixed at a number, and not by a formula of theory, although trials would tune them."""
    values = experiment.algorithms[id].set
    parameters = ALGORITHMS.get(experiment.algorithm(id)).options()
    return [
        name
        for name, option in parameters.items()
        if name not in tune
        and is_number(values.get(name))
        and bool(option.search if option.search is not None else option.required and option.advice)
    ]


def _tosses_coins(algorithm: type[Algorithm], values: Mapping[str, Any]) -> bool:
    """Return whether an algorithm draws the length of its rounds, a client, or what its compressor does."""
    if algorithm.overrides("length"):
        return True
    for name, option in algorithm.options().items():
        if option.family == "channel":
            default = option.default() if callable(option.default) else option.default
            if CHANNELS.build(values.get(name, default)).random:
                return True
    averaging = algorithm.options().get("averaging")
    if averaging is not None:  # one client is drawn only where the next x is that of one client
        return bool(values.get("averaging", averaging.default) == "random")
    return algorithm.overrides("single_client")


def _tuning_rule(experiment: Experiment) -> Spec | None:
    """Return the tuning rule that the experiment names; None for the one that its tuned values imply."""
    if experiment.tuning is None:
        return None
    kind, values = TUNING_RULES.split(experiment.tuning)
    rule = TUNING_RULES.create(kind, values)  # raises UserError where a value does not fit
    if rule.name in ("grid", "trials"):
        raise UserError(f"tuning: {rule.name} follows from tune or trials: leave it out")
    if rule.needs_trials and not experiment.trials:
        raise UserError(f"tuning: {rule.name} begins with trials of search spaces; give their number in trials")
    return {"kind": kind, **values}


def _split(cell: Cell, parts: int) -> list[Cell]:
    """Return a cell as those of its parts that have points within."""
    if parts == 1:
        return [cell]
    points = list(product(cell.spec.within))
    indices = [part for part in range(parts) if any(in_part(point, part, parts) for point in points)]
    return [replace(cell, spec=replace(cell.spec, part=[part, parts])) for part in indices]


def _cell(experiment: Experiment, id: str, point: Point) -> Cell:
    entry = experiment.algorithms[id]
    groups = {case.group for case in experiment.cases.values()}
    for name in entry.undefined.keys() - groups:
        PROBLEMS.get(name)
    parts: dict[str, Any] = copy.deepcopy(
        {"parameters": entry.set, "problem": experiment.problem, "setting": {**experiment.setting, **entry.setting}}
    )
    case = experiment.cases[point[CASE]] if CASE in point else None
    if case is not None:
        parts |= {key: merge(parts[key], getattr(case, key)) for key in ("problem", "setting")}
    assign(parts, {axis: value for axis, value in point.items() if axis != CASE})
    for place in (PROBLEMS.split(parts["problem"])[0], case and case.group):
        if place in entry.undefined:
            raise Undefined(entry.undefined[place])
    problem, setting = parts["problem"], parts["setting"]
    if is_by_owner(problem.get("partition")) and not {"clients"} & {*setting, *experiment.within}:
        setting["clients"] = number_of_clients(problem["partition"], info(problem.get("data", "")).clients)
    tune, space = tuned_values(experiment, id, problem, setting)
    if experiment.trials:
        algorithm = ALGORITHMS.get(experiment.algorithm(id))
        parts["parameters"] = with_advice(algorithm, parts["parameters"], setting, tune)
    select = experiment.select if entry.extend is None else replace(experiment.select, extend=entry.extend)
    spec = CellSpec(
        algorithm=experiment.algorithm(id),
        within=experiment.within,
        tune=tune,
        seeds=sorted(entry.seeds or experiment.first_seeds),
        optimum=(experiment.optimum if case is None or case.optimum is None else case.optimum)
        and not varies_by_seed(problem),  # each instance knows its own F*, if any
        select=select if has_choice(tune) else None,
        case=point.get(CASE),
        space=space,
        tuning=_tuning_rule(experiment) if has_choice(tune) else None,
        **parts,
    )
    if experiment.analyses and min(spec.tuning_seeds, default=experiment.analyses[-1]) < experiment.analyses[-1]:
        raise UserError(
            f"select.seeds: {min(spec.tuning_seeds)} may become a scoring seed, as seeds.at_most is "
            f"{experiment.analyses[-1]}; take tuning seeds from {experiment.analyses[-1]} on"
        )
    records = (ALGORITHMS.get(experiment.algorithm(id)).records for id in experiment.algorithms)
    validation.check_cell(spec, experiment.select, {LOCAL_LOSS}.union(*records))
    return Cell(id, point, spec)


def _check_axes(sections: Mapping[str, Axes]) -> None:
    """Raise UserError if an axis has the name of a column, varies what runs of one file share, or undoes another."""
    # Values are set in the order of the sections: section and name of each axis, by the place whose value it sets.
    before: dict[str, tuple[str, str]] = {}
    for section, axes in sections.items():
        for name in axes:
            path = name if section != "tune" or name in SETTING else f"parameters.{name}"
            if name in NO_METRICS:
                raise UserError(f"{section}: {name!r} cannot be an axis, because results have a column of that name")
            if section == "within" and name.startswith("problem."):
                raise UserError(f"within: the runs of a file share their problem; move {name!r} to grid")
            for earlier, (where, called) in before.items():
                if _inside(earlier, path):
                    raise UserError(f"{section}: {name!r} would undo {called!r} of {where}; keep one of them")
                if _inside(path, earlier) and section == where == "grid":
                    raise UserError(
                        f"grid: {name!r} lies inside {called!r}; move it to within, or write all values out"
                    )
            before[path] = (section, name)


def _inside(path: str, outer: str) -> bool:
    """Return whether a path equals another one or lies inside it."""
    return f"{path}.".startswith(f"{outer}.")
