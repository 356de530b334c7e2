"""Resources of the jobs of cells, for schedulers: generous guesses, raised when a job is tried again."""

from collections.abc import Mapping
from math import prod
from typing import Any

from fedatlas.data import sources
from fedatlas.data.sources import Source
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec, Spec

GROUP = "cells"  # of jobs that a cluster runs several at a time

_INTERPRETER_MB = 1000  # with the numerical libraries
_TORCH_MB = 3000  # of torch, its buffers and a network's clients
_COPIES = 3  # of the data: as loaded, as features, as split


def resources(problem: Spec, cores: int = 1) -> dict[str, int]:
    """Return ``mem_mb``, ``runtime`` (minutes) and ``gpu`` of the job of a cell.

    Args:
        problem: Problem of the cell.
        cores: Cores of the job, on each of which a network has a process.
    """
    network = is_network(problem)
    names = [problem[key] for key in ("data", "test") if problem.get(key)]
    data_mb = sum(_bytes(sources.info(name)) for name in names) / 1e6
    memory = _INTERPRETER_MB + _TORCH_MB * network + _COPIES * data_mb
    gpu = int(network and str(problem.get("device", "")).startswith("cuda"))
    return {"mem_mb": int(memory) * (cores if network else 1), "runtime": 24 * 60 if network else 120, "gpu": gpu}


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
