"""What the jobs of cells take, from their specifications, before anything is built: memory, GPUs, runs, operations."""

import functools
import json
from math import prod

import numpy as np

from fedatlas.data import sources
from fedatlas.data.sources import Source
from fedatlas.experiments.cells import CellSpec, Spec, has_choice
from fedatlas.experiments.expansion import draws_nothing
from fedatlas.experiments.runs import (
    FIRST_SEEDS,
    Search,
    create,
    create_run,
    create_setting,
    initial_searches,
    tuned_points,
)
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation import problems
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.channels import directions
from fedatlas.federation.costs.operations import of_architecture
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.steps import call
from fedatlas.federation.problems.network import NeuralNetwork

DIM, CLIENTS = 3, 2  # of a start that is tried: no state of clients has this length by chance
STEP_OPERATIONS = 20_000  # products and sums in the time of a client step besides its gradient

_INTERPRETER_MB = 1000  # with the numerical libraries
_TORCH_MB = 2000  # of torch, and of the activations of minibatches
_BLOCK = 24  # vectors of the server, and of the clients that are computed at once
_COPIES = 3  # of the data: as loaded, as features, as split


def memory_mb(spec: CellSpec, cores: int = 1) -> int:
    """Return the memory of the job of a cell: data, clients that are computed, and the states of all clients.

    Args:
        spec: Specification of the cell.
        cores: Cores of the job, on each of which a network has activations.
    """
    search = initial_searches(spec)[0]
    run = create_run(spec, search.within, search.chosen or tuned_points(search)[0], 0)
    clients = max([run.setting["clients"], *spec.within.get("clients", ())])
    kind, data = problems.parse(run.problem)
    parameters = _parameters(json.dumps(run.problem)) if data else run.problem.get("dim") or 1
    try:
        state_vectors = client_vectors(create(run)[0])
    except Exception:  # an init that asks for the problem, or one of a user's: it fails where the job runs
        state_vectors = 1
    state_vectors += bool(directions(run.setting.get("channel"))[0].error_feedback)
    size = 4 if is_network(run.problem) else 8
    vectors = int((kind.bytes(clients) + (_BLOCK + state_vectors * clients) * parameters * size) / 1e6)
    return problem_mb(spec.problem) + _TORCH_MB * cores * is_network(spec.problem) + vectors


def problem_mb(problem: Spec) -> int:
    """Return the memory of a process with a problem's data, without vectors of clients."""
    names = [problem[key] for key in ("data", "test") if problem.get(key)]
    return _INTERPRETER_MB + int(_COPIES * sum(_bytes(sources.info(name)) for name in names) / 1e6)


def client_vectors(algorithm: Algorithm) -> int:
    """Return the number of vectors of the model's size in the first State of a client."""
    _, client = call(algorithm.init, np.zeros(DIM), CLIENTS)
    return sum(np.shape(value) == (DIM,) for _, value in client.items())


@functools.lru_cache(1000)
def _parameters(problem: str) -> int:
    """Return the number of parameters of a model on data. problem: Its specification."""
    kind, options = problems.parse(json.loads(problem))
    source = sources.info(options.data if options else "")
    if isinstance(kind, NeuralNetwork):
        import torch

        with torch.device("meta"):
            network = kind.architecture_kind.build(source.shape, source.classes)
        return sum(parameter.numel() for parameter in network.parameters())
    return prod(source.shape) * max(1, source.classes if kind.name == "softmax" else 1)


def count_gpus(problem: Spec, of_networks: int = 0) -> int:
    """Return the number of GPUs of the job of a cell.

    Args:
        problem: Problem of the cell.
        of_networks: GPUs of a network whose device is ``auto``.
    """
    device = str(problem.get("device", "auto"))
    if not is_network(problem) or device == "cpu":
        return 0
    return max(of_networks, int(device.startswith("cuda")))


def is_network(problem: Spec) -> bool:
    """Return whether a problem is computed with torch."""
    return problem["kind"] == "network"


def _bytes(source: Source) -> int:
    if source.sparse:  # published as text, of which each byte is less than a byte of CSR
        return 2 * (source.bytes or 0)
    size = 4 if source.dtype == "float32" else 8  # other numbers become doubles
    return size * (source.rows + source.test_rows) * prod(source.shape)


def count_runs(spec: CellSpec) -> int:
    """Return the number of runs of a cell, if no search moves an end of an axis."""
    return sum(count for search in initial_searches(spec) for count, _ in run_stages(spec, search, 1))


def count_work(spec: CellSpec) -> float:
    """Return the operations in all runs of a cell, if those of each tuned value are as many as those of the last."""
    work = 0.0
    for search in initial_searches(spec):
        run = create_run(spec, search.within, search.chosen or tuned_points(search)[-1], 0)
        rounds = create_setting(run).total_rounds
        runs = sum(count * length / rounds for count, length in run_stages(spec, search, rounds))
        work += runs * _run_work(json.dumps(run.setting), json.dumps(run.problem))
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


@functools.lru_cache(10_000)
def _run_work(conditions: str, spec: str) -> float:
    """Return the number of operations of a run, as if all clients took part in all rounds."""
    setting, problem = Setting(**json.loads(conditions)), json.loads(spec)
    kind, options = problems.parse(problem)
    source = sources.info(options.data) if options else None
    rows = (source.rows if source else 1) / setting.clients
    batch = rows if setting.batch is None else min(setting.batch, rows) if rows > 1 else setting.batch
    local_steps = setting.local_steps or (setting.local_epochs or 1) * max(1.0, rows / batch)
    client_steps = setting.total_rounds * local_steps * setting.clients
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
