"""The runs of a cell: which there are, and what each of them is built from."""

import copy
import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Axes, CellSpec, Point, Run, Search, has_choice
from fedatlas.experiments.formulas import resolve
from fedatlas.federation import algorithms
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.registry.options import construct

SETTING = {f.name for f in fields(Setting)}  # of which some may be tuned, such as local_steps


def initial_searches(spec: CellSpec) -> list[Search]:
    """The searches of a cell, one for each point within, before any run. Where there is no choice, they are over."""
    points = (inside for inside in product(spec.within) if spec.part is None or in_part(inside, *spec.part))
    only = None if has_choice(spec.tune) else product(spec.tune)[0]
    return [Search(inside, spec.tune, only, spec.space) for inside in points]


def runs(spec: CellSpec, searches: Sequence[Search] = ()) -> Iterator[Run]:
    """The single runs of a cell, in the order of its axes within.

    At each point, all tuned values run on the tuning seeds, in the order of axes and seeds, and then the chosen one on
    the scoring seeds. searches: how far the search for the best values is; by default it is at its start.
    """
    for search in searches or initial_searches(spec):
        for tuned in tuned_points(search) if spec.select else ():
            for seed in spec.tuning_seeds:
                yield create_run(spec, search.within, tuned, seed)
        for seed in spec.seeds if search.chosen is not None else ():
            yield create_run(spec, search.within, search.chosen or {}, seed)


def create_run(spec: CellSpec, within: Point, tuned: Point, seed: int) -> Run:
    """The run of a cell at a point within, with tuned values and a seed."""
    parts = {"parameters": dict(spec.parameters), "problem": spec.problem, "setting": copy.deepcopy(spec.setting)}
    for axis, value in {**within, **{k: v for k, v in tuned.items() if k in SETTING}}.items():
        assign(parts, axis, value)
    parts["parameters"] |= {name: value for name, value in tuned.items() if name not in SETTING}
    return Run(spec.algorithm, seed=seed, within=within, tune=tuned, **parts)


def create(run: Run, problem: Any = None) -> tuple[Algorithm, Setting]:
    """The algorithm and the setting of a run.

    problem: whose constants the formulas among the hyper-parameters name; without one they are only parsed. Raises
    UserError if the two cannot be built.
    """
    return create_algorithm(run, problem), create_setting(run)


def create_algorithm(run: Run, problem: Any = None) -> Algorithm:
    """The algorithm of a run. Arguments and errors are those of `create`."""
    known = algorithms.get(run.algorithm).options()
    return algorithms.create(run.algorithm, resolve(run.parameters, known, problem))


def create_setting(run: Run) -> Setting:
    """The setting of a run. Raises UserError if it cannot be built."""
    return construct("setting", Setting, run.setting)


def assign(parts: Mapping[str, Any], axis: str, value: Any) -> None:
    """Set an axis in place.

    parts: mappings ``setting``, ``problem`` and ``parameters``. axis: a key of the setting, with dots for what lies
    inside it, or ``problem.`` or ``parameters.`` and a key. A number after a dot is a place in a list:
    ``participation.p.0``. value: of which a copy is set, because another axis may reach into it. Raises UserError if
    there is no such place.
    """
    *path, last = axis.split(".")
    target: Any = parts
    for part in path if path[:1] in (["problem"], ["parameters"]) else ["setting", *path]:
        target = target[_place(axis, target, part)] if isinstance(target, list) else target.setdefault(part, {})
        if not isinstance(target, (dict, list)):
            raise UserError(f"axis {axis!r}: {part} is {target!r}, which has no parts; write it as a mapping or a list")
    target[_place(axis, target, last) if isinstance(target, list) else last] = copy.deepcopy(value)


def _place(axis: str, values: list[Any], part: str) -> int:
    if not part.isdigit() or int(part) >= len(values):
        raise UserError(f"axis {axis!r}: {part!r} is no position in {values}; positions are numbered from 0")
    return int(part)


def in_part(point: Point, part: int, parts: int) -> bool:
    """Whether a point within belongs to a part. The point alone decides, so a new point leaves all others in place."""
    return int(hashlib.sha256(repr(sorted(point.items())).encode()).hexdigest(), 16) % parts == part


def tuned_points(search: Search) -> list[Point]:
    """The tuned values of a search: trials, or all points of its grid."""
    if search.space is None:
        return product(search.axes)
    return [dict(zip(search.axes, values, strict=True)) for values in zip(*search.axes.values(), strict=True)]


def product(axes: Axes) -> list[Point]:
    """Points of a grid; the last axis runs fastest. No axes: one empty point."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
