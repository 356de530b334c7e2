"""The runs of a cell: which there are, their order, and what each of them is built from.

A `Search` says what tuning has run so far at one point within. From the searches follow the runs, in the order of the
rows of the run file, whose metadata are a `RunMeta`. From a run follow its algorithm and its setting.
"""

import copy
import dataclasses
import functools
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Axes, CellSpec, Environment, Point, Run, Space, has_choice
from fedatlas.experiments.result_files import explain
from fedatlas.experiments.values import resolve_formulas
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems import instance_at
from fedatlas.registry import extensions
from fedatlas.registry.options import construct

SETTING = {f.name for f in fields(Setting)}  # of which some may be tuned, such as local_steps
FIRST_SEEDS = 2  # tuning seeds of a search; equal scores on them show that runs are not random


@dataclass(frozen=True)
class Trial:
    """A tuned value that runs on the tuning seeds: for all rounds, or for those of a rung, counted from 1."""

    point: Point
    rung: int = 0
    rounds: int | None = None


@dataclass(frozen=True)
class Confirmation:
    """The part of a search in which fresh seeds confirm the best tuned value, or refute it.

    Attributes:
        best: The value that is, or is to be, confirmed.
        points: Values that run on the fresh seeds: all that were the best so far, and their neighbours.
        seeds: Fresh seeds so far.
        refuted: Values that fresh seeds refuted, in this order.
        is_test: Whether the last seeds, as many as there are tuning seeds, are fresh for ``best``: they test it. Else
            all seeds so far are compared.
    """

    best: Point
    points: list[Point]
    seeds: list[int]
    refuted: list[Point]
    is_test: bool

    @property
    def outcome(self) -> str:
        """The outcome in words, once the search is over."""
        count = len(self.refuted)
        times = {0: "", 1: "after one refuted value", 2: "after two refuted values"}.get(count, "")
        return f"confirmed {times}".strip() if self.is_test else "not confirmed"


@dataclass(frozen=True)
class Search:
    """The search for the best tuned value at one point within.

    Attributes:
        within: The point.
        axes: Tuned hyper-parameters and their values, with those that the search added.
        chosen: The best tuned value; None as long as it is not known.
        space: Search space from which trials were drawn, as far as it has grown; None where values form a grid.
        rungs: Trials of all rungs so far, where the tuning rule has rungs; None for other rules.
        seeds: Tuning seeds on which values run: two, and all where these show that runs are random.
        confirmation: How fresh seeds confirm the best value; None before, and where runs are not random.
    """

    within: Point
    axes: Axes
    chosen: Point | None = None
    space: Space | None = None
    rungs: list[Trial] | None = None
    seeds: list[int] = field(default_factory=list)
    confirmation: Confirmation | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the search as JSON types, without rungs and confirmation where there are none."""
        content = dataclasses.asdict(self)
        return {key: value for key, value in content.items() if value is not None or key in ("chosen", "space")}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Search":
        """Return the search that `to_dict` turned into JSON types."""
        rungs, confirmation = content.get("rungs"), content.get("confirmation")
        parts = {
            "rungs": rungs and [Trial(**trial) for trial in rungs],
            "confirmation": confirmation and Confirmation(**confirmation),
        }
        return cls(**{**content, **parts})


@dataclass(frozen=True)
class RunMeta:
    """The metadata of a run file.

    Attributes:
        spec: Specification of the cell.
        fingerprint: Fingerprint of the code behind the numbers.
        environments: Environments that computed the runs: versions, processor and device, clock of the seconds.
        computed: For each run, in the order of the rows, the position of its environment.
        data: Provenance of each data set.
        traces: Checksums of availability traces by path.
        searches: Searches at the points within, where there is a choice.
        recorded: Whether the file comes from a record.
        unverified: Whether it comes from a record, and no verification holds for the code that runs.
    """

    spec: CellSpec
    fingerprint: str
    environments: list[Environment]
    computed: list[int] = field(default_factory=list)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    traces: dict[str, str] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    recorded: bool = False
    unverified: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as JSON types."""
        return {**vars(self), "spec": self.spec.to_dict(), "searches": [search.to_dict() for search in self.searches]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "RunMeta":
        """Return the metadata that `to_dict` turned into JSON types."""
        with explain("a result file has other metadata"):
            searches = [Search.from_dict(search) for search in content.get("searches", ())]
            return cls(**{**content, "spec": CellSpec.from_dict(content["spec"]), "searches": searches})


def initial_searches(spec: CellSpec) -> list[Search]:
    """Return the searches of a cell before any run, one for each point within; without a choice, they are over."""
    points = (point for point in product(spec.within) if spec.part is None or in_part(point, *spec.part))
    chosen = None if has_choice(spec.tune) else product(spec.tune)[0]
    rungs: list[Trial] | None = None if spec.tuning is None else []
    return [Search(point, spec.tune, chosen, spec.space, rungs, spec.tuning_seeds[:FIRST_SEEDS]) for point in points]


def runs(spec: CellSpec, searches: Sequence[Search] = ()) -> Iterator[Run]:
    """Yield the runs of a cell in the order of the rows of its file.

    At each point within, the trials run on the tuning seeds, in the order of axes and seeds; then the best of them and
    its neighbours run on fresh seeds, and the chosen value on the scoring seeds.

    searches: their state; by default their start.
    """
    for search in searches or initial_searches(spec):
        for trial in search_trials(search) if spec.select else ():
            for seed in search.seeds:
                yield create_run(spec, search.within, trial.point, seed, trial)
        if search.confirmation is not None:
            for point, seed in itertools.product(search.confirmation.points, search.confirmation.seeds):
                yield create_run(spec, search.within, point, seed)
        for seed in spec.seeds if search.chosen is not None else ():
            yield create_run(spec, search.within, search.chosen or {}, seed)


def search_trials(search: Search) -> list[Trial]:
    """Return what a search runs on the tuning seeds, as far as it is known."""
    return [Trial(point) for point in tuned_points(search)] if search.rungs is None else search.rungs


def tuned_points(search: Search) -> list[Point]:
    """Return the tuned values of a search: the trials of its space, or all points of its grid."""
    if search.space is None:
        return product(search.axes)
    return [dict(zip(search.axes, values, strict=True)) for values in zip(*search.axes.values(), strict=True)]


def create_run(spec: CellSpec, within: Point, tuned: Point, seed: int, trial: Trial | None = None) -> Run:
    """Return the run of a cell at a point within, with tuned values and a seed.

    trial: rung and rounds of the run, if it does not take all rounds.
    """
    problem = instance_at(spec.problem, seed)
    clone = copy.deepcopy if any("." in axis for axis in within) else dict  # an axis may set a part of a shared value
    parts = {"parameters": clone(spec.parameters), "problem": problem, "setting": clone(spec.setting)}
    assign(parts, {**within, **{name: value for name, value in tuned.items() if name in SETTING}})
    parts["parameters"] |= {name: value for name, value in tuned.items() if name not in SETTING}
    if trial is not None and trial.rounds is not None:  # rounds take the place of steps and epochs, which count them
        setting = {key: value for key, value in parts["setting"].items() if key not in ("steps", "epochs")}
        parts["setting"] = {**setting, "rounds": trial.rounds}
    rung = 0 if trial is None else trial.rung
    return Run(spec.algorithm, seed=seed, within=within, tune=tuned, rung=rung, **parts)


def create(run: Run, problem: Any = None) -> tuple[Algorithm, Setting]:
    """Build the algorithm and the setting of a run.

    problem: whose constants the formulas among the hyper-parameters name; without one they are only parsed. Raises
    UserError if a value does not fit, or a formula has no finite value.
    """
    options = ALGORITHMS.get(run.algorithm).options()
    return ALGORITHMS.create(run.algorithm, resolve_formulas(run.parameters, options, problem)), create_setting(run)


def create_setting(run: Run) -> Setting:
    """Build the setting of a run, once for all runs that share it. Raises UserError if a value does not fit."""
    return _setting(extensions.study(), json.dumps(run.setting))


@functools.lru_cache(10_000)
def _setting(_study: Path | None, setting: str) -> Setting:
    """Build a setting from JSON. The study is a part of the key, because its extensions say what a name means."""
    return construct("setting", Setting, json.loads(setting))


def distinct(environments: Iterable[Environment]) -> list[Environment]:
    """Return environments, each once, in the order in which they come first."""
    return list({json.dumps(environment, sort_keys=True): environment for environment in environments}.values())


def assign(parts: Mapping[str, Any], point: Mapping[str, Any]) -> None:
    """Set the values of axes in the parts of a specification.

    Args:
        parts: Mappings ``setting``, ``problem`` and ``parameters``, which are changed.
        point: Value by axis. An axis is a key of the setting, with dots for what lies inside it, or ``problem.`` or
            ``parameters.`` and a key. A number after a dot is an index of a list: ``participation.p.0``. Of a value a
            copy is set, because another axis may reach into it.

    Raises:
        UserError: An axis leads nowhere.
    """
    for axis, value in point.items():
        *path, last = axis.split(".")
        target: Any = parts
        try:
            for part in path if path[:1] in (["problem"], ["parameters"]) else ["setting", *path]:
                target = target[int(part)] if isinstance(target, list) else target.setdefault(part, {})
            target[int(last) if isinstance(target, list) and last.isdigit() else last] = copy.deepcopy(value)
        except (AttributeError, IndexError, TypeError, ValueError):
            raise UserError(f"axis {axis!r} leads nowhere in {target!r:.60}; lists are numbered from 0") from None


def in_part(point: Point, part: int, parts: int) -> bool:
    """Return whether a point within belongs to a part. The point alone decides, so new points leave others in place."""
    return int(hashlib.sha256(repr(sorted(point.items())).encode()).hexdigest(), 16) % parts == part


def product(axes: Axes) -> list[Point]:
    """Return the points of a grid, of which the last axis runs fastest; without axes, one empty point."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
