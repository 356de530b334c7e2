"""What the job of a cell asks of a machine, for schedulers: generous guesses, raised when a job is tried again."""

from math import prod

from fedatlas.data import sources
from fedatlas.data.sources import Source
from fedatlas.experiments.cells import Spec

BATCH = "cells"  # the group whose members a cluster runs several to a job

_BASE = 1000  # MB of an interpreter with the numerical libraries
_TORCH = 3000  # MB more for torch, its buffers and a network's clients
_COPIES = 3  # of the data: as loaded, as features, as split


def needs(problem: Spec) -> dict[str, int]:
    """``mem_mb``, ``runtime`` (minutes) and ``gpu`` of a cell with this problem."""
    network = is_network(problem)
    memory = _BASE + _TORCH * network + _COPIES * _data_mb(problem)
    gpu = int(network and str(problem.get("device", "")).startswith("cuda"))
    return {"mem_mb": int(memory), "runtime": 24 * 60 if network else 120, "gpu": gpu}


def batch(problem: Spec) -> str | None:
    """The group of small cells, or None for a cell that is worth a job of its own."""
    return None if is_network(problem) else BATCH


def is_network(problem: Spec) -> bool:
    """Whether a problem is computed with torch."""
    return problem["kind"] == "network"


def _data_mb(problem: Spec) -> float:
    names = [problem[key] for key in ("data", "test") if problem.get(key)]
    return sum(_bytes(sources.info(name)) for name in names) / 1e6


def _bytes(source: Source) -> int:
    if source.sparse:  # published as text, of which every byte is less than a byte of CSR
        return 2 * (source.bytes or 0)
    size = 4 if source.dtype == "float32" else 8  # other numbers are made doubles
    return size * (source.rows + source.test_rows) * prod(source.shape)
