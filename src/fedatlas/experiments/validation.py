"""Validation of a cell before any job: all that its specification names is built, so that no job fails on it.

No data are loaded. Small synthetic problems are made, and each of their runs is built. Of other
problems only what is declared is known.
"""

import functools
import json
from collections.abc import Collection
from pathlib import Path

import numpy as np

from fedatlas.data.sources import info, train_info
from fedatlas.errors import Undefined, UserError, did_you_mean, explain_overflow
from fedatlas.experiments.cells import CellSpec, Run, Select, Spec
from fedatlas.experiments.run import check_start
from fedatlas.experiments.runs import create, create_run, create_setting, initial_searches, tuned_points
from fedatlas.experiments.values import check_constants, resolve_formulas
from fedatlas.federation import partitions, problems
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.engine.history import LOCAL_LOSS, PARTS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.metrics import round_metric
from fedatlas.federation.problems import DataKind, ProblemKind, SyntheticKind
from fedatlas.federation.problems.base import TESTED, VALIDATED, Problem
from fedatlas.federation.problems.rows import DataOptions
from fedatlas.registry import extensions


def check_cell(spec: CellSpec, select: Select, recordable: Collection[str]) -> None:
    """Build every combination of a cell's values once. Raises UserError if a value does not fit.

    select: how the experiment scores runs. recordable: names of all that its algorithms can record.
    """
    study = extensions.study()
    kind, sources = _parse(study, json.dumps(spec.problem))
    if sources is not None:
        check_problem(spec.problem)
    if "clients" in spec.within and ("partition" in spec.problem or kind.per_client):
        raise UserError("within: clients cannot vary inside a run file if each has its own data or objective; use grid")
    if spec.optimum and not kind.solvable:
        raise UserError(f"optimum: the optimum of this problem ({kind.name}) cannot be computed; leave it out")
    settings: dict[str, Setting] = {}
    reason, begun = None, False
    seed = (spec.tuning_seeds or spec.seeds)[0]  # which changes neither algorithm nor setting
    points = [(search.within, tuned) for search in initial_searches(spec) for tuned in tuned_points(search)]
    for within, tuned in points:
        run = create_run(spec, within, tuned, seed)
        conditions = repr(run.setting)
        if conditions not in settings:
            settings[conditions] = _checked_setting(spec, kind, sources, create_setting(run), recordable)
        setting, parameters = settings[conditions], json.dumps(run.parameters)
        algorithm = _algorithm(study, run.algorithm, parameters)
        check_constants(run.parameters, algorithm.options(), kind.available_constants())
        algorithm.validate_constants(kind.available_constants())
        algorithm.validate(setting, kind)
        if isinstance(kind, SyntheticKind) and not (begun and spec.space):
            try:
                _begin(study, run.algorithm, parameters, json.dumps(run.problem), json.dumps(run.setting), run.seed)
                begun = True
            except Undefined as error:
                if spec.space is None:
                    raise
                reason = error
    if reason is not None and not begun:  # one trial is enough: the job leaves out those that cannot begin
        raise reason
    _metrics(spec, select)


def check_problem(spec: Spec) -> None:
    """Raise UserError if the problem of a specification cannot be created."""
    kind, data = problems.parse(spec)
    if data is None:
        return
    train = train_info(f"problem {kind.name}", data.data, data.test)
    if isinstance(kind, DataKind):
        kind.validate_data(train)
    if data.partition is not None:
        partitions.PARTITIONS.build(data.partition)


# Cells of an experiment share most of what they name. What is built from text alone is built once for each text. The
# study is a part of the key, because its extensions say what a name means.
@functools.lru_cache(10_000)
def _algorithm(_study: Path | None, name: str, parameters: str) -> Algorithm:
    """Build an algorithm without a problem, so that its formulas are only parsed."""
    options = ALGORITHMS.get(name).options()
    return ALGORITHMS.create(name, resolve_formulas(json.loads(parameters), options))


@functools.lru_cache(10_000)
def _parse(_study: Path | None, problem: str) -> tuple[ProblemKind, DataOptions | None]:
    """Parse the specification of a problem, which is given as JSON."""
    return problems.parse(json.loads(problem))


@functools.lru_cache(10_000)
def _begin(_study: Path | None, algorithm: str, parameters: str, problem: str, setting: str, seed: int) -> None:
    """Raise Undefined if a run cannot begin on a synthetic problem that is built in milliseconds."""
    run = Run(algorithm, json.loads(parameters), json.loads(problem), json.loads(setting), seed, {}, {})
    conditions = create_setting(run)
    if (built := _built(problem, conditions.clients)) is None:
        return
    try:
        with explain_overflow(algorithm):
            check_start(*create(run, built), built, seed)
    except UserError as error:
        raise Undefined(str(error)) from None


def _metrics(spec: CellSpec, select: Select) -> None:
    """Raise UserError if a metric that scores or tunes is not reported, or if one of test data tunes."""
    names = reported_metrics(spec)
    for key, name in (("metric", select.metric), *([("tuned_on", select.tuning_metric)] if spec.select else [])):
        if name not in names:
            raise UserError(f"select.{key}: unknown metric {name!r}{did_you_mean(name, names)}")
    if spec.select is None:
        return
    if (name := select.tuning_metric).startswith(TESTED):
        held = name.replace(TESTED, VALIDATED, 1)
        raise UserError(
            f"select: {name} is of test data, on which no value may be tuned: hold out training rows with "
            f"problem.validation: 0.1, and say select.tuned_on: {held}"
        )
    if shared := sorted({*spec.seeds} & {*spec.tuning_seeds}):
        raise UserError(
            f"select.seeds: {spec.algorithm} would be tuned and scored on the same seed, {shared[0]}; take other seeds "
            "for one of the two"
        )


def reported_metrics(spec: CellSpec) -> list[str]:
    """Return the names of the metrics that the runs of a cell report."""
    kind, sources = _parse(extensions.study(), json.dumps(spec.problem))
    lists = [spec.setting.get("metrics"), *spec.within.get("metrics", ())]
    requested = [name for names in lists for name in names or ()]
    requested += [over_rounds.base for name in requested if (over_rounds := round_metric(name)) is not None]
    algorithm = ALGORITHMS.get(spec.algorithm)
    records = (LOCAL_LOSS, *algorithm.records)
    recorded = [name for name in spec.setting.get("record") or () if name in records]
    parts = [f"{name}_{part}" for name in recorded for part in PARTS]
    return [*kind.metric_names(spec.optimum, _parts(sources)), *algorithm.reports, *requested, *parts]


def _parts(sources: DataOptions | None) -> list[str]:
    """Return the prefixes of metrics of test and validation data, as far as the problem has them."""
    if sources is None:
        return []
    tested = sources.test or sources.test_share or info(sources.data).test_rows
    return [*([TESTED] if tested else []), *([VALIDATED] if sources.validation else [])]


def _checked_setting(
    spec: CellSpec, kind: ProblemKind, sources: DataOptions | None, setting: Setting, recordable: Collection[str]
) -> Setting:
    """Return a setting after checking that it fits the problem and that its files exist."""
    setting.participation_kind.validate_files(setting.clients)
    for name in setting.record or ():
        if name not in recordable:
            available = sorted(recordable)
            raise UserError(f"record: no algorithm of the experiment notes {name!r}{did_you_mean(name, available)}")
    split = sources is not None and sources.partition is not None
    setting.sampling_kind.validate(kind, split)
    setting.metric_functions(kind.metric_names(spec.optimum, _parts(sources)), ALGORITHMS.get(spec.algorithm).reports)
    if sources is not None and split:
        for metric in setting.client_metrics.values():
            sources.require_client_rows(metric.part, partitions.is_by_owner(sources.partition))
        _split(json.dumps(sources.partition, sort_keys=True), sources.data, setting.clients)
    return setting


@functools.cache
def _split(partition: str, data: str, clients: int) -> None:
    """Raise UserError if as many labels of each class as a data set has, or equally many, cannot be split."""
    source, spec = info(data), json.loads(partition)
    if partitions.is_by_owner(spec):
        partitions.number_of_clients(spec, source.clients, clients)
        return
    labels = np.arange(source.rows) % source.classes
    if source.counts is not None:
        labels = np.repeat(np.arange(source.classes), source.counts)
    partitions.split(spec, labels, clients)


@functools.cache
def _built(spec: str, clients: int) -> Problem | None:
    """Build a synthetic problem from JSON if that takes milliseconds; otherwise return None."""
    kind, _ = problems.parse(json.loads(spec))
    return kind.build(clients) if isinstance(kind, SyntheticKind) and kind.cheap(clients) else None
