"""What the job of a cell asks of a machine, for schedulers: generous guesses, raised when a job is tried again."""

from math import prod

from fedatlas.data.sources import info

BATCH = "cells"  # the group whose members a cluster runs several to a job

_BASE = 1000  # MB of an interpreter with the numerical libraries
_TORCH = 3000  # MB more for torch, its buffers and a network's clients
_COPIES = 3  # of the data: as loaded, as features, as split


def needs(spec):
    """``{"mem_mb", "runtime" (minutes), "gpu"}`` of a cell's specification."""
    network = is_network(spec)
    memory = _BASE + _TORCH * network + _COPIES * _data_mb(spec["problem"])
    gpu = int(network and str(spec["problem"].get("device", "")).startswith("cuda"))
    return {"mem_mb": int(memory), "runtime": 24 * 60 if network else 120, "gpu": gpu}


def batch(spec):
    """The group of small cells, or None for a cell that is worth a job of its own."""
    return None if is_network(spec) else BATCH


def is_network(spec):
    return spec["problem"]["kind"] == "network"


def _data_mb(problem):
    sources = [info(problem[key]) for key in ("data", "test") if problem.get(key)]
    return sum(_bytes(source, problem) for source in sources) / 1e6


def _bytes(source, problem):
    if source.sparse:  # published as text, of which every byte is less than a byte of CSR
        return 2 * (source.bytes or 0)
    size = 4 if source.dtype == "float32" else 8  # other numbers are made doubles
    return size * (source.rows + source.test_rows) * prod(source.shape)
