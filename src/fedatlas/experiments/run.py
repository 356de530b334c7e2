"""Runs of a cell and the run file that holds them: Parquet, tidy rows, the specification inside."""

import dataclasses
import functools
import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fedatlas.data.dataset import load_prepared
from fedatlas.errors import UserError
from fedatlas.experiments import scores
from fedatlas.experiments.cells import EXCHANGES, RUNG, CellSpec, Environment, Point, Run
from fedatlas.experiments.dependencies import cell_modules, conditions, data_names, trace_files
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.result_files import read_table, write
from fedatlas.experiments.runs import (
    RunMeta,
    Search,
    Trial,
    create,
    create_run,
    distinct,
    initial_searches,
    runs,
    tuned_points,
)
from fedatlas.experiments.tuning import TUNING_RULES, Outcomes, advance_search
from fedatlas.experiments.values import column_cells
from fedatlas.federation import arrays, problems
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.engine import resources
from fedatlas.federation.engine.checkpoint import Checkpointer
from fedatlas.federation.engine.exchanges import Ledger
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems import instance_at, varies_by_seed
from fedatlas.federation.problems.base import Optimum, Problem
from fedatlas.io.files import read_bytes
from fedatlas.io.machine import environment

SAVE_SECONDS = 60  # a cell that is cut off loses at most about this much

Row = dict[str, Any]  # an evaluation of a run
ProblemOfSeed = Callable[[int], Problem]  # for a seed, the problem of its runs


class Finished(NamedTuple):
    """A run that is done: its rows, and what computed them."""

    rows: list[Row]
    environment: Environment


def run_cell(
    spec: CellSpec,
    out: str | Path,
    data: str | Path | None = None,
    partition: str | Path | None = None,
    optimum: str | Path | None = None,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
    earlier: str | Path | None = None,
) -> None:
    """Run what a cell's file does not hold yet, and write the file.

    Where there is a choice of tuned values, they run on the tuning seeds first, as the tuning rule says, and the best
    ones on fresh seeds. Then the chosen ones run on the scoring seeds.

    Args:
        spec: Specification of the cell.
        out: Path of the run file. Runs of the same specification and code are kept: those of the run file, and those
            that an interrupted job left beside it (.part holds finished runs, .state a checkpoint of the unfinished
            one).
        data: Data directory.
        partition: Path of the partition's file.
        optimum: Path of the optimum's file.
        threads: Threads that compute blocks of clients.
        progress: Called with (finished, total) as runs end; total counts those that are known to be needed.
        stop: Event that asks for a last checkpoint.
        earlier: Path of a run file of the same cell with fewer seeds or values, whose runs are kept as well.

    Raises:
        UserError: The memory does not suffice.
        checkpoint.Stopped: The event was set.
    """
    out = Path(out)
    part = out.with_suffix(".part")
    here = environment() | problems.parse(spec.problem)[0].provenance()
    meta = RunMeta(
        spec=spec,
        fingerprint=fingerprint(cell_modules(spec)),
        environments=[here],
        data={name: load_prepared(name, data).provenance for name in data_names(spec)},
        traces={path: hashlib.sha256(read_bytes(path)).hexdigest() for path in trace_files(spec)},
    )
    done = {key: run for path in (earlier, out, part) if path for key, run in _reusable(Path(path), meta).items()}
    problem = problem_of_seed(spec, data, partition, optimum)
    searches = _first_searches(spec, problem)
    finished, saved = len(done), time.monotonic()

    def keep(path: Path, cell_runs: list[Run]) -> None:
        made = [done[run.key].environment for run in cell_runs]
        environments = distinct(made)
        content = dataclasses.replace(
            meta,
            environments=environments,
            computed=[environments.index(environment) for environment in made],
            searches=searches if spec.select else [],
        )
        rows = [
            {**columns, **row}
            for run, columns in _places(spec, cell_runs)
            for row in file_rows(spec, run.seed, done[run.key].rows)
        ]
        write(path, rows, content.to_dict())

    def save() -> None:
        nonlocal finished, saved
        if len(done) > finished:
            keep(part, [run for run in cell_runs if run.key in done])
        finished, saved = len(done), time.monotonic()

    keeper = Checkpointer(out.with_suffix(".state"), _identity(meta), SAVE_SECONDS, stop=stop, also=save)
    while True:
        cell_runs = list(runs(spec, searches))
        for group in _groups([run for run in cell_runs if run.key not in done], problem):
            watch = functools.partial(keeper.watch, [run.key for run in group])
            for run, rows in zip(group, _run(group, problem(group[0].seed), threads, watch), strict=True):
                done[run.key] = Finished(rows, here)
            if time.monotonic() - saved > SAVE_SECONDS:
                save()
            if progress:
                progress(sum(run.key in done for run in cell_runs), len(cell_runs))
        if all(search.chosen is not None for search in searches):
            break
        searches = [_advance(spec, search, done, problem) for search in searches]
    keep(out, cell_runs)
    part.unlink(missing_ok=True)
    keeper.forget()


def _first_searches(spec: CellSpec, problem: ProblemOfSeed) -> list[Search]:
    """Return the searches of a cell without the trials that cannot be run. Raises UserError where none can."""
    searches = initial_searches(spec)
    for number, search in enumerate(searches if spec.space is not None else ()):
        feasible = [tuned for tuned in tuned_points(search) if _possible(spec, search, problem, tuned)]
        if not feasible:
            raise UserError(f"{spec.algorithm}: no trial of its search space can be run: give another range in search")
        axes = {name: [tuned[name] for tuned in feasible] for name in search.axes}
        searches[number] = dataclasses.replace(search, axes=axes)
    return searches


def _groups(missing: list[Run], problem: ProblemOfSeed) -> Iterator[list[Run]]:
    """Yield runs in lists that are computed at once: those that share their draws if a compiled kernel takes them."""
    groups: dict[str, list[Run]] = {}
    for run in missing:
        groups.setdefault(json.dumps([run.setting, run.seed]), []).append(run)
    for group in groups.values():
        built, seed = problem(group[0].seed), group[0].seed
        algorithm, setting = create(group[0], built)
        together = built.kernel([Simulation(algorithm, built, setting, seed)]) is not None
        yield from [group] if together else ([run] for run in group)


def _advance(spec: CellSpec, search: Search, done: Mapping[str, Finished], problem: ProblemOfSeed) -> Search:
    """Return a search whose runs are done with more of them, or with the chosen value."""
    if search.chosen is not None:
        return search

    def evaluations(trial: Trial, seed: int) -> list[Row]:
        return done[create_run(spec, search.within, trial.point, seed, trial).key].rows

    outcomes = Outcomes(spec, evaluations, functools.partial(_possible, spec, search, problem))
    return advance_search(TUNING_RULES.build(spec.tuning_rule), search, outcomes)


def _possible(spec: CellSpec, search: Search, problem: ProblemOfSeed, tuned: Point) -> bool:
    """Return whether runs of a tuned value can begin on the problem of a tuning seed; those on others may diverge."""
    for seed in spec.tuning_seeds or spec.seeds:
        run = create_run(spec, search.within, tuned, seed)
        try:
            check_start(*create(run, problem(seed)), problem(seed), seed)
        except (UserError, ArithmeticError):
            continue
        return True
    return False


def check_start(algorithm: Algorithm, setting: Setting, problem: Problem, seed: int) -> None:
    """Build a run, and run one round where only that shows that the clients' subproblems have a solution.

    Raises:
        UserError: The run cannot begin.
    """
    simulation = Simulation(algorithm, problem, dataclasses.replace(setting, state="memory"), seed)
    if "prox" in simulation.algorithm.requires:
        simulation.run_round()
        if not arrays.all_finite(simulation.output):
            raise UserError(
                f"{algorithm.title()}: its first proximal step has no finite solution; a weight that does not make "
                "every client strongly convex must be larger"
            )


def problem_of_seed(
    spec: CellSpec,
    data: str | Path | None = None,
    partition: str | Path | None = None,
    optimum: str | Path | None = None,
) -> ProblemOfSeed:
    """Return the function from a seed to the problem of a cell, with partition and optimum from files if there are any.

    It keeps the last problem, because runs of one seed follow one another. data: directory.
    """
    clients: Any = spec.setting.get("clients")  # None where they vary within: then all clients share the data

    @functools.lru_cache(maxsize=1)
    def load(seed: int | None) -> Problem:
        split = Partition.load(partition) if partition else None
        problem_spec = spec.problem if seed is None else instance_at(spec.problem, seed)
        problem = problems.create(problem_spec, clients, data, split)
        if optimum:
            problem.optimum = Optimum.load(optimum)
        return problem

    varies = varies_by_seed(spec.problem)
    return lambda seed: load(seed if varies else None)


def _run(group: list[Run], problem: Problem, threads: int, keep: Callable[..., Any]) -> list[list[Row]]:
    """Compute runs that differ in tuned values alone; return their rows without the columns that identify runs."""
    pairs = [create(run, problem) for run in group]
    setting, seed = pairs[0][1], group[0].seed
    simulations = [Simulation(algorithm, problem, setting, seed, None, threads) for algorithm, _ in pairs]
    resources.require_memory(simulations)
    histories = run_simulations(simulations, keep=keep)
    return list(map(_rows, histories))


def _rows(history: History) -> list[Row]:
    """Return rows, each with the exchanges since the one before; seconds have four digits, since more are noise."""
    diverged = -1 if history.diverged_round is None else history.diverged_round
    end = {"status": history.status, "diverged_round": diverged}
    ledgers = history.ledger.split([row["round"] for row in history.rows])
    return [
        {**row, "seconds": float(f"{row['seconds']:.4g}"), EXCHANGES: part.text(), **end}
        for row, part in zip(history.rows, ledgers, strict=True)
    ]


def file_rows(spec: CellSpec, seed: int, rows: list[Row]) -> list[Row]:
    """Return the rows of a run that its run file holds.

    A run on a scoring seed has all of its rows. Any other only compares tuned values: it has its first and last row and
    those of which its score is made, each with the exchanges since the one before.
    """
    if spec.select is None or seed in spec.seeds:
        return rows
    values = [row.get(spec.select.tuning_metric, math.nan) if row["round"] > 0 else math.nan for row in rows]
    scored = [at for at, value in enumerate(values) if not math.isnan(value)]
    if spec.select.statistic == "best":
        choose = min if scores.goal(spec.select.tuning_metric, spec.select) == "min" else max
        scored = [choose(scored, key=values.__getitem__)] if scored else []
    kept = sorted({0, *scored[-spec.select.last :], len(rows) - 1})
    since = zip([0, *(at + 1 for at in kept)], kept, strict=False)
    texts = [_joined(tuple(row[EXCHANGES] for row in rows[start : at + 1])) for start, at in since]
    return [{**rows[at], EXCHANGES: text} for at, text in zip(kept, texts, strict=True)]


@functools.lru_cache(maxsize=1 << 16)
def _joined(texts: tuple[str, ...]) -> str:
    """Return the exchanges of successive spans of rounds as those of one."""
    if len(texts) == 1:
        return texts[0]
    joined = Ledger()
    for text in texts:
        for profile, rounds in Ledger.parse(text):
            joined.add(profile, rounds)
    return joined.text()


def _places(spec: CellSpec, cell_runs: list[Run]) -> Iterator[tuple[Run, Row]]:
    """Yield runs with the values of the columns that identify them."""
    columns = {axis: column_cells(values) for axis, values in {**spec.within, **spec.tune}.items()}
    for run in cell_runs:
        cells = {axis: columns[axis](value) for axis, value in {**run.within, **run.tune}.items()}
        rung = {} if spec.tuning is None else {RUNG: run.rung}
        yield run, {**cells, **rung, "seed": run.seed}


def _reusable(path: Path, meta: RunMeta) -> dict[str, Finished]:
    """Return the runs in a file, by key, that the same code computed from the same specification."""
    if not path.exists():
        return {}
    try:
        table, content = read_table(path)
        old = RunMeta.from_dict(content)
    except (UserError, TypeError, KeyError, ValueError):
        return {}
    if _identity(old) != _identity(meta):
        return {}
    scoring = set(old.spec.seeds)  # the seeds of whole runs: of all others the file has the rows of their score
    same = old.spec.select and meta.spec.select and meta.spec.select.comparison == old.spec.select.comparison
    return {
        key: done
        for key, (run, done) in stored_runs(table.to_pylist(), old).items()
        if not old.spec.select or run.seed in scoring or (same and run.seed not in meta.spec.seeds)
    }


def stored_runs(rows: list[Row], meta: RunMeta) -> dict[str, tuple[Run, Finished]]:
    """Return the runs of a file with their rows, which lose the columns that identify runs, by the key of the run."""
    spec = meta.spec
    columns = (*spec.within, *spec.tune, *([] if spec.tuning is None else [RUNG]), "seed")
    of_run: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        of_run.setdefault(tuple(row.pop(column, None) for column in columns), []).append(row)
    if len(of_run) != len(meta.computed):
        return {}
    places = ((run, tuple(cells.values())) for run, cells in _places(spec, list(runs(spec, meta.searches))))
    made = dict(zip(of_run, (meta.environments[number] for number in meta.computed), strict=True))
    return {run.key: (run, Finished(of_run[cells], made[cells])) for run, cells in places if cells in of_run}


def replay_searches(spec: CellSpec, done: Mapping[str, Finished], problem: ProblemOfSeed) -> list[Search]:
    """Return the searches of a cell as they follow from runs that are done, by key; KeyError where one is missing."""
    searches = _first_searches(spec, problem)
    while any(search.chosen is None for search in searches):
        searches = [_advance(spec, search, done, problem) for search in searches]
    return searches


def compute_run(run: Run, problem: Problem) -> list[Row]:
    """Return the rows of a run, without the columns that identify runs."""
    return _run([run], problem, 1, lambda _: lambda: None)[0]


def _identity(meta: RunMeta) -> Any:
    """Return what two files must share so that runs of one serve the other: not tuning, seeds or axes within."""
    return json.loads(json.dumps([conditions(meta.spec), meta.fingerprint, meta.data, meta.traces]))
