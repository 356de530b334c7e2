"""The work of cells: their runs, and operations in them, counted from the specification."""

import functools
import json
from collections.abc import Iterable
from math import prod

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec, Search, has_choice
from fedatlas.experiments.entry_facts import draws_nothing
from fedatlas.experiments.runs import FIRST_SEEDS, create_run, create_setting, initial_searches, tuned_points
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation import problems
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.costs.operations import of_architecture
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.network import NeuralNetwork
from fedatlas.workflow.resources import shares_clients

ROUNDS = 20  # of which the active clients are counted
STEP_OPERATIONS = 20_000  # products and sums in the time of a client step besides its gradient
MANY_OPERATIONS = 4e11  # in all gradients of a cell of networks, some seconds; the start of a process takes as long


def count_runs(spec: CellSpec) -> int:
    """Return the number of runs of a cell, if no search moves an end of an axis."""
    return sum(count for search in initial_searches(spec) for count, _ in run_stages(spec, search, 1))


def count_work(spec: CellSpec, searches: Iterable[Search]) -> float:
    """Return the operations in all runs of searches.

    Args:
        spec: Specification of the cell.
        searches: Searches of the cell, at their start.
    """
    work = 0.0
    for search in searches:
        values = tuned_points(search) if has_choice(spec.tune) else []
        last = values[-1] if values else search.chosen or {}  # scoring takes as long as the last value
        rounds = create_setting(create_run(spec, search.within, last, 0)).total_rounds
        *trials, (scored, _) = run_stages(spec, search, rounds)
        share = sum(count * length for count, length in trials) / max(len(values) * rounds, 1)
        for point, count in [*((value, share) for value in values), (last, scored)]:
            run = create_run(spec, search.within, point, 0)
            work += count * _run_work(json.dumps(run.setting), json.dumps(run.problem))
    return work


def run_stages(spec: CellSpec, search: Search, rounds: int) -> list[tuple[int, int]]:
    """Return the number of runs in each stage of a search, and the rounds of each: of trials, last of all other runs.

    A search is counted as if it moved no end of an axis, and as if fresh seeds confirmed its first best value. Runs
    that are the same for all seeds are confirmed by none.

    Args:
        spec: Specification of the cell.
        search: The search at its start.
        rounds: Rounds of the setting.
    """
    if not has_choice(spec.tune):
        return [(len(spec.seeds), rounds)]
    exact = draws_nothing(spec.algorithm, spec.parameters, spec.problem, spec.setting, spec.within)
    values, seeds = len(tuned_points(search)), len(spec.tuning_seeds[: FIRST_SEEDS if exact else None])
    trials = TUNING_RULES.build(spec.tuning_rule).stages(values, rounds)
    tested = min(values, 1 + 2 * len(spec.tune)) if seeds > 1 and not exact else 0
    return [*((count * seeds, length) for count, length in trials), (tested * seeds + len(spec.seeds), rounds)]


def worker_count(spec: CellSpec, cores: int) -> int:
    """Return the number of processes that compute the runs of a cell together.

    A process takes seconds to start, so short runs have one, and so have runs on a GPU.

    Args:
        spec: Specification of the cell.
        cores: Cores of the job.
    """
    if cores == 1 or not shares_clients(spec):
        return 1
    from fedatlas.federation.networks.device import choose  # which loads torch

    device = spec.problem.get("device", "cpu")
    if device == "cuda" or choose(device).type == "cuda":
        return 1
    return cores if count_work(spec, initial_searches(spec)) >= MANY_OPERATIONS else 1


@functools.lru_cache(10_000)
def _run_work(conditions: str, spec: str) -> float:
    """Return the number of operations of a run."""
    setting, problem = Setting(**json.loads(conditions)), json.loads(spec)
    kind, options = problems.parse(problem)
    source = sources.info(options.data) if options else None
    rows = (source.rows if source else 1) / setting.clients
    batch = rows if setting.batch is None else min(setting.batch, rows) if rows > 1 else setting.batch
    local_steps = setting.local_steps or (setting.local_epochs or 1) * max(1.0, rows / batch)
    client_steps = setting.total_rounds * local_steps * _active_clients(setting)
    if source is None:  # clients of the problem `similar` have dense matrices
        dim = problem.get("dim", 10)
        sample = 2.0 * dim * (dim if problem["kind"] == "similar" else 1)
    elif isinstance(kind, NeuralNetwork):
        sample = _network_operations(json.dumps(kind.architecture), source.shape, source.classes)
    else:
        sample = 4.0 * prod(source.shape) * (source.classes if problem["kind"] == "softmax" else 1)
    return client_steps * (batch * sample + STEP_OPERATIONS)


@functools.lru_cache(1000)
def _network_operations(architecture: str, shape: tuple[int, ...], outputs: int) -> float:
    """Return the operations of a network's gradient of one sample. architecture: Its specification."""
    return of_architecture(ARCHITECTURES.build(json.loads(architecture)), shape, outputs)


def _active_clients(setting: Setting) -> float:
    """Return the mean number of active clients; half of all where the rule of participation needs the data."""
    rounds = range(min(ROUNDS, setting.total_rounds))
    try:
        participants = setting.participation_kind.bind(None, setting.clients, 0)
        return sum(len(participants.active(t)) for t in rounds) / len(rounds)
    except (UserError, AttributeError):
        return setting.clients / 2
