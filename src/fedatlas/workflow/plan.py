"""A plan of an experiment: its jobs, time, memory and disk, from short runs on this machine."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell, Point, Run, beginnings, has_choice
from fedatlas.experiments.run import check_start
from fedatlas.experiments.runs import SETTING, create, create_run, create_setting, initial_searches, tuned_points
from fedatlas.federation import algorithms
from fedatlas.federation.costs.operations import per_sample
from fedatlas.federation.engine import estimates
from fedatlas.federation.engine.evaluation import evaluate
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.federation.problems import interactive
from fedatlas.federation.problems.base import Problem
from fedatlas.io.machine import format_size
from fedatlas.workflow.resources import is_network
from fedatlas.workflow.work import count_work, run_stages

LEAST_SECONDS = 0.5  # of the last of the runs that double their rounds
LONG_SECONDS = 10.0  # of a round that is computed once
MOST_ROUNDS = 4096  # of such a run
ROW_BYTES = 150  # of a row of a run file, compressed
GPU_RATE = 1e13  # operations that a GPU of a data centre sustains in a second, with float32 and small batches
HOUR = 3600.0
LENGTHS = ("steps", "epochs", "eval_steps", "eval_points")  # keys of a setting that a measurement leaves out
WHOLE: dict[str, Any] = {"steps": None, "epochs": None}  # lengths of a run that rounds replace
PARTS = ("data", "architecture", "features", "dim", "device", "precision")  # that tell the time of a step


class Measurement(NamedTuple):
    """Seconds and memory of the runs at one point of a cell on this machine, on one processor.

    Attributes:
        round: Seconds of a round of one run.
        evaluation: Seconds of an evaluation.
        memory: Bytes that its run takes, besides the interpreter and its libraries.
        operations: Operations of a round: those of products in gradients.
    """

    round: float
    evaluation: float
    memory: int
    operations: float


@dataclass(frozen=True)
class Load:
    """The runs of a cell at one point within.

    Attributes:
        cell: Number of the cell.
        entry: Name of the algorithm in the experiment.
        run: Run with the last of the tuned values.
        points: Tuned values.
        runs: Number of runs, if a search moves no end of an axis.
        rounds: Rounds of the longest run.
        all_rounds: Rounds of all runs together.
        evaluations: Evaluations of all runs together.
        rows: Rows of their run file.
        work: Operations of a round as `fedatlas.workflow.work` counts them, by which loads are compared.
    """

    cell: int
    entry: str
    run: Run
    points: Sequence[Point]
    runs: int
    rounds: int
    all_rounds: int
    evaluations: int
    rows: int
    work: float


@dataclass(frozen=True)
class Plan:
    """The plan of an experiment at a size.

    Attributes:
        loads: Runs at each point of each cell.
        measurements: Measured, or interpolated, seconds and memory of each of them.
        short: Number of loads that were measured.
    """

    loads: Sequence[Load]
    measurements: Sequence[Measurement]
    short: int

    @property
    def training_seconds(self) -> float:
        """Seconds of all runs on one processor, without evaluations."""
        return sum(load.all_rounds * m.round for load, m in zip(self.loads, self.measurements, strict=True))

    @property
    def seconds(self) -> np.ndarray:
        """Seconds of each load on one processor, (loads,)."""
        pairs = zip(self.loads, self.measurements, strict=True)
        return np.array([load.all_rounds * m.round + load.evaluations * m.evaluation for load, m in pairs])

    def text(self, cores: int) -> str:
        """Return the plan for people. cores: Number of jobs that run at once."""
        seconds, runs = self.seconds, sum(load.runs for load in self.loads)
        jobs = np.bincount([load.cell for load in self.loads], seconds)
        longest, total = jobs.max(), seconds.sum()
        rows = sum(load.rows for load in self.loads)
        pairs = list(zip(self.loads, self.measurements, strict=True))
        largest = max(m.memory for m in self.measurements)
        least, reason = max(longest, total / cores), "since the" if longest > total / cores else "of which the"
        lines = [
            f"jobs     {len(jobs)} run files with {runs:,} runs, if no search moves beyond its first grid",
            f"time     {_hours(total)} of one processor; on {cores} core{'' if cores == 1 else 's'} {_hours(least)}, "
            f"{reason} longest job takes {_hours(longest)}",
            f"memory   {format_size(largest)} in the largest job, besides the libraries",
            f"disk     {format_size(rows * ROW_BYTES)} of run files",
        ]
        if operations := sum(load.all_rounds * m.operations for load, m in pairs if is_network(load.run.problem)):
            lines.append(
                f"GPU      {_hours(operations / GPU_RATE)} for {operations:.2g} operations at {GPU_RATE:.0e} a second"
            )
        measured = f"{self.short} of {len(self.loads)} points were measured by short runs"
        lines += [
            f"         ({measured}{'' if self.short == len(self.loads) else '; the others lie between them'})",
            "",
        ]
        by_entry: dict[str, list[float]] = {}
        for (load, m), spent in zip(pairs, seconds, strict=True):
            entry = by_entry.setdefault(load.entry, [0.0, 0.0, 0.0])
            entry[0] += spent
            entry[1] += load.runs
            entry[2] = max(entry[2], m.round)
        margin = max(map(len, by_entry))
        lines.append(f"{'entry':<{margin}}  {'runs':>8}  {'time':>9}  {'longest round':>13}")
        for label, (total, count, longest_round) in sorted(by_entry.items(), key=lambda item: -item[1][0]):
            lines.append(f"{label:<{margin}}  {count:>8,.0f}  {_hours(total):>9}  {longest_round:>11.3g} s")
        return "\n".join(lines)


def plan(
    cells: Iterable[Cell],
    directory: str | Path | None = None,
    measure: Callable[[Load, str | Path | None], Measurement] | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Plan:
    """Plan the runs of an experiment.

    Of the points with the same algorithm and kind of problem those with the least and the most work in a round are
    measured; the others lie between them.

    Args:
        cells: Cells of the experiment.
        directory: Data directory, in which the data are prepared.
        measure: Function that measures the runs at one point; by default `measure_load`.
        progress: Function that is called with the entry of each point that is measured.

    Raises:
        UserError: Data of a problem are not prepared.
    """
    measure = measure or measure_load
    cells = list(cells)
    shared = beginnings(cells)
    loads = [load for number, cell in enumerate(cells) for load in _loads(number, cell, (cell.id, cell.key) in shared)]
    groups: dict[tuple[str, ...], list[int]] = {}
    for at, load in enumerate(loads):
        problem = load.run.problem
        kind = (problem["kind"], *(str(problem.get(key)) for key in PARTS))
        groups.setdefault((load.run.algorithm, *kind), []).append(at)
    measurements: dict[int, Measurement] = {}
    for members in groups.values():
        members.sort(key=lambda at: loads[at].work)
        first, last = members[0], members[-1]
        for at in {first, last}:
            progress(loads[at].entry)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of step sizes: the runs themselves warn
                measurements[at] = measure(loads[at], directory)
    short = len(measurements)
    for members in groups.values():
        first, last = members[0], members[-1]
        low, high = loads[first].work, loads[last].work
        for at in members[1:-1]:
            share = (loads[at].work - low) / (high - low) if high > low else 0.0
            ends = zip(measurements[first], measurements[last], strict=True)
            seconds, evaluation, size, operations = (a + share * (b - a) for a, b in ends)
            measurements[at] = Measurement(seconds, evaluation, round(size), operations)
    return Plan(loads, [measurements[at] for at in range(len(loads))], short)


def measure_load(load: Load, directory: str | Path | None = None) -> Measurement:
    """Measure runs of few rounds, with all tuned values that are computed at once.

    Args:
        load: Runs at one point.
        directory: Data directory, in which the data are prepared.

    Raises:
        UserError: No tuned value can be run.
    """
    run = load.run
    problem = interactive.create(run.problem, run.setting["clients"], directory)
    clock = problem.clock
    points = _feasible(load, problem)

    def seconds(rounds: int) -> float:
        runs = simulations(rounds)
        start = clock()
        run_simulations(runs)
        return clock() - start

    def simulations(rounds: int) -> list[Simulation]:
        setting = {key: value for key, value in run.setting.items() if key not in LENGTHS}
        setting |= {"rounds": rounds, "eval_rounds": rounds}
        pairs = [
            create(replace(run, setting=setting, parameters=run.parameters | _parameters(p)), problem) for p in points
        ]
        return [Simulation(algorithm, problem, setting, run.seed) for algorithm, setting in pairs]

    first = simulations(1)[0]
    parts, _ = estimates.estimate(first)
    _compile_gradients(first)
    start = clock()
    operations = _operations(first)
    alone = clock() - start
    if problem.kernel(simulations(1)) is None:
        points = points[-1:]
    rounds, before, after = 1, 0.0, alone
    if alone < LONG_SECONDS:
        seconds(1)  # the first run compiles kernels
        after = seconds(1)
        while after < LEAST_SECONDS and rounds < min(load.rounds, MOST_ROUNDS):
            rounds, before = 2 * rounds, after
            after = seconds(rounds)
    pairs = [(simulation, History()) for simulation in simulations(1)]
    start = clock()
    evaluate(pairs)
    evaluation = clock() - start
    if alone >= LONG_SECONDS:
        return Measurement(alone, evaluation / len(points), sum(parts.values()), operations)
    # both runs have as many evaluations: their difference is that of rounds alone
    duration = max(after - before, 0.0) / (rounds // 2) if rounds > 1 else max(after - 2 * evaluation, 0.0)
    return Measurement(duration / len(points), evaluation / len(points), sum(parts.values()), operations)


def _feasible(load: Load, problem: Problem) -> list[Point]:
    """Return the tuned values of a load that can be run, as a job runs no others."""
    feasible, reason = [], UserError(f"{load.entry}: no tuned values")
    for point in load.points:
        run = replace(load.run, parameters=load.run.parameters | _parameters(point))
        try:
            check_start(*create(run, problem), problem, run.seed)
        except UserError as error:
            reason = error
        else:
            feasible.append(point)
    if not feasible:
        raise reason
    return feasible


def _parameters(point: Point) -> Point:
    """Return the tuned values that are hyper-parameters; all others are keys of the setting."""
    return {name: value for name, value in point.items() if name not in SETTING}


def _loads(number: int, cell: Cell, is_shared: bool = False) -> Iterator[Load]:
    """Yield the runs at each point of a cell.

    Args:
        number: Number of the cell.
        cell: The cell.
        is_shared: Whether all of its runs are those of another cell, if no search moves beyond its first grid.
    """
    for search in initial_searches(cell.spec):
        points = tuned_points(search) if has_choice(cell.spec.tune) else [search.chosen or {}]
        run = create_run(cell.spec, search.within, points[-1], cell.spec.seeds[0])
        setting = create_setting(run)
        rounds = setting.total_rounds
        stages = run_stages(cell.spec, search, rounds)
        runs, all_rounds = sum(count for count, _ in stages), sum(count * length for count, length in stages)
        rows = sum(count * len(replace(setting, rounds=length, **WHOLE).eval_grid) for count, length in stages)
        evaluations = all_rounds + runs if setting.round_metrics else rows
        per_round = count_work(cell.spec, [search]) / max(all_rounds, 1)
        if is_shared:
            runs, all_rounds, evaluations, rows = 0, 0, 0, 0
        yield Load(number, cell.id, run, points, runs, rounds, all_rounds, evaluations, rows, per_round)


def _compile_gradients(simulation: Simulation) -> None:
    """Compute one local step of FedAvg, which compiles what gradients of the simulation's problem need."""
    setting = replace(simulation.setting, rounds=1, local_steps=1, local_epochs=None)
    Simulation(algorithms.create("fedavg", {"lr": 1e-9}), simulation.problem, setting, simulation.seed).run_round()


def _operations(simulation: Simulation) -> float:
    """Return the operations of the gradients in the next round of a simulation."""
    before, active = simulation.costs["samples"], len(simulation.participants.active(simulation.round))
    simulation.run_round()
    return (simulation.costs["samples"] - before) * active * per_sample(simulation.problem)


def _hours(seconds: float) -> str:
    for unit, size in (("h", HOUR), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:,.3g} {unit}"
    return f"{seconds:.2g} s"
