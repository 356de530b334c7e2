"""Resources of the jobs of cells, for schedulers: estimates from the specification, before anything is built."""

import functools
import json
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from fedatlas.data import sources
from fedatlas.data.sources import Source
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec, Spec
from fedatlas.experiments.runs import create_algorithm, create_run, initial_searches, tuned_points
from fedatlas.federation import problems
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.channels import directions
from fedatlas.federation.engine.round import call
from fedatlas.federation.problems.network import NeuralNetwork

GROUP = "cells"  # of jobs that a cluster runs several at a time

_INTERPRETER_MB = 1000  # with the numerical libraries
_TORCH_MB = 2000  # of torch, and of the activations of minibatches
_PROBE = 4  # parameters of a model on which an algorithm's states are counted
_BLOCK = 20  # vectors of the clients that are computed at once
_COPIES = 3  # of the data: as loaded, as features, as split


def memory_mb(spec: CellSpec, cores: int = 1, counts_states: bool = True) -> int:
    """Return the memory of the job of a cell.

    Args:
        spec: Specification of the cell.
        cores: Cores of the job, on each of which a network has a process.
        counts_states: Whether states of clients count, for which networks are built without memory; that loads torch.
    """
    problem, network = spec.problem, is_network(spec.problem)
    process = problem_mb(problem) + _TORCH_MB * network
    return process * (cores if network else 1) + (_vectors_mb(spec) if counts_states else 0)


def problem_mb(problem: Spec) -> int:
    """Return the memory of a process with a problem's data, without vectors of clients."""
    names = [problem[key] for key in ("data", "test") if problem.get(key)]
    return _INTERPRETER_MB + int(_COPIES * sum(_bytes(sources.info(name)) for name in names) / 1e6)


def _vectors_mb(spec: CellSpec) -> int:
    """Return the memory of the problem that is built, of the server, and of the states of all clients."""
    search = initial_searches(spec)[0]
    run = create_run(spec, search.within, search.chosen or tuned_points(search)[0], 0)
    clients = max([run.setting["clients"], *spec.within.get("clients", ())])
    kind, data = problems.parse(run.problem)
    parameters = _parameters(json.dumps(run.problem)) if data else run.problem.get("dim") or 1
    server, client = _count_vectors(create_algorithm(run), clients)
    per_client = client + bool(directions(run.setting.get("channel"))[0].error_feedback)
    size = 4 if is_network(run.problem) else 8
    return int((kind.bytes(clients) + (_BLOCK + 2 * server + per_client * clients) * parameters * size) / 1e6)


def _count_vectors(algorithm: Algorithm, clients: int) -> list[int]:
    """Return how many vectors of parameters the states of the server and of a client have, on a model of few."""
    try:
        states = call(algorithm.init, np.zeros(_PROBE), clients)
        return [sum(np.size(value) // _PROBE for _, value in state.items()) for state in states]
    except Exception:  # an init that asks for the problem, or one of a user's: it fails where the job runs
        return [2, 1]


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


def gpus(problem: Spec, of_networks: int = 0) -> int:
    """Return the number of GPUs of the job of a cell.

    Args:
        problem: Problem of the cell.
        of_networks: GPUs of a network whose device is ``auto``.
    """
    device = str(problem.get("device", "auto"))
    if not is_network(problem) or device == "cpu":
        return 0
    return max(of_networks, int(device.startswith("cuda")))


def group(problem: Spec) -> str | None:
    """Return the group of small cells, or None for a cell that is worth a job of its own."""
    return None if is_network(problem) else GROUP


def is_network(problem: Spec) -> bool:
    """Return whether a problem is computed with torch."""
    return problem["kind"] == "network"


def shares_clients(spec: CellSpec) -> bool:
    """Return whether processes may compute the clients of a cell together, each its own.

    Clients of a network have processes: threads would wait for Python's lock, which holds half of the time of a small
    network's step. A driver computes one client after another.
    """
    return is_network(spec.problem) and "driver" not in spec.setting


def launcher(spec: CellSpec, request: Mapping[str, Any], cores: int) -> str:
    """Return the beginning of the command of a job, which starts it in several tasks; nothing where it has one.

    Args:
        spec: Specification of the cell.
        request: Resources of the job, among them ``mpi`` and ``tasks`` as the SLURM plugin of Snakemake takes them.
        cores: Cores of each task.

    Raises:
        UserError: The resources contradict each other, or the job can have one process alone.
    """
    command, tasks = request.get("mpi"), request.get("tasks")
    if not command and tasks in (None, 1):
        return ""
    if command != "srun" or not isinstance(tasks, int) or tasks < 1:
        raise UserError(
            f"the resources of a job with several tasks are mpi=srun and tasks, a whole number; mpi is {command!r} and "
            f"tasks is {tasks!r}: give both, as in `--set-resources train:mpi=srun train:tasks=4`"
        )
    if not shares_clients(spec) or request.get("gpu"):
        raise UserError(
            f"this cell of {spec.algorithm} cannot have several tasks, which compute the clients of networks, on "
            "processors and without a driver: leave mpi and tasks out where its experiment is made"
        )
    return f"srun --ntasks={tasks} --cpus-per-task={cores} "


def _bytes(source: Source) -> int:
    if source.sparse:  # published as text, of which each byte is less than a byte of CSR
        return 2 * (source.bytes or 0)
    size = 4 if source.dtype == "float32" else 8  # other numbers become doubles
    return size * (source.rows + source.test_rows) * prod(source.shape)
