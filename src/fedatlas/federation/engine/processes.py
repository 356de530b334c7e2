"""Processes that are the workers of a run, over the collectives of `torch.distributed`.

A job starts its other workers by itself, as torchrun would, or is one of the workers that a launcher has started.
"""

import contextlib
import io
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from fedatlas.errors import UserError
from fedatlas.federation.engine.launchers import AGENT, Task
from fedatlas.federation.engine.workers import Workers

SMALL = 1 << 12  # bytes of an array that is copied into the pickle
LARGE = 1 << 20  # bytes of an array beyond which it is a message of its own
ALIGNMENT = 64  # bytes, of arrays in a message
FOREVER = timedelta(days=30)  # a worker that ends closes its connections, so no message is waited for in vain
START_SECONDS = 300.0  # in which all workers must have begun
END_SECONDS = 10.0  # in which the others must have ended after the first
READY = "ready-"  # beginning of the keys by which workers say that they have begun


class _Pickler(pickle.Pickler):
    """A pickler that hands the numbers of tensors over as those of arrays, which are not copied."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return _tensor, (value.detach().cpu().numpy(), str(value.device))
        return NotImplemented


def _tensor(array: np.ndarray, device: str) -> torch.Tensor:
    return torch.from_numpy(array).to(device)


class Processes:
    """The transport between processes that `torch.distributed` connects."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def broadcast(self, value: Any, source: int) -> Any:
        """Return the value of the worker ``source``.

        Raises:
            UserError: Another worker has ended.
        """
        try:
            return self._broadcast(value, source)
        except RuntimeError as error:
            raise UserError(
                "another worker of this run has ended, so this one ends too; the same command goes on from the last "
                f"checkpoint ({str(error).splitlines()[0]:.120})"
            ) from None

    def _broadcast(self, value: Any, source: int) -> Any:
        if self.rank == source:
            _send(value, source)
            return value
        return _receive(source)


def _send(value: Any, source: int) -> None:
    """Send a value to all other workers: three counts, a piece with its pickle and smaller arrays, the larger arrays.

    Few messages matter more than a copy, but for large arrays.
    """
    buffers: list[pickle.PickleBuffer] = []

    def is_inside(buffer: pickle.PickleBuffer) -> bool:  # of the pickle
        if buffer.raw().nbytes <= SMALL:
            return True
        buffers.append(buffer)
        return False

    file = io.BytesIO()
    _Pickler(file, 5, buffer_callback=is_inside).dump(value)
    head, arrays = file.getbuffer(), [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]
    lengths = [len(array) for array in arrays]
    places, size = _layout(len(head), lengths)
    piece = np.empty(size, np.uint8)
    piece[: 8 * len(arrays)].view(np.int64)[:] = lengths
    piece[8 * len(arrays) :][: len(head)] = head
    large = []
    for array, place in zip(arrays, places, strict=True):
        if place is None:
            large.append(array if array.flags.writeable else array.copy())  # as torch demands of memory it shares
        else:
            piece[place : place + len(array)] = array
    for message in (np.array([len(head), len(arrays), size]), piece, *large):
        dist.broadcast(torch.from_numpy(message), source)


def _receive(source: int) -> Any:
    """Return the value that the worker ``source`` sends."""
    counts = torch.empty(3, dtype=torch.int64)
    dist.broadcast(counts, source)
    bytes_of_head, count, size = counts.tolist()
    piece = np.empty(size, np.uint8)
    dist.broadcast(torch.from_numpy(piece), source)
    lengths = piece[: 8 * count].view(np.int64).tolist()
    arrays = []
    for length, place in zip(lengths, _layout(bytes_of_head, lengths)[0], strict=True):
        if place is None:
            arrays.append(np.empty(length, np.uint8))
            dist.broadcast(torch.from_numpy(arrays[-1]), source)
        else:
            arrays.append(piece[place : place + length])
    return pickle.loads(piece[8 * count :][:bytes_of_head].data, buffers=arrays)


def _layout(bytes_of_head: int, lengths: list[int]) -> tuple[list[int | None], int]:
    """Return where arrays lie in the piece, None for those that are messages of their own, and its size in bytes.

    Args:
        bytes_of_head: Size of the pickle, which comes first, after the lengths of the arrays.
        lengths: Sizes of the arrays, in bytes.
    """
    places: list[int | None] = []
    size = 8 * len(lengths) + bytes_of_head
    for length in lengths:
        place = -(-size // ALIGNMENT) * ALIGNMENT
        places.append(place if length <= LARGE else None)
        size = place + length if length <= LARGE else size
    return places, size


@contextlib.contextmanager
def start(count: int, task: Task | None = None) -> Iterator[Workers]:
    """Return the workers of a job in a context that starts and ends them.

    Args:
        count: Number of workers.
        task: This one of them, if a launcher has started them; otherwise this process starts the others.

    Raises:
        UserError: A worker has ended before it was connected.
    """
    with contextlib.ExitStack() as stack:
        others: list[subprocess.Popen[bytes]] = []
        rank = task.rank if task else 0
        if task:
            store = _meet(task)
        else:
            store = dist.TCPStore("127.0.0.1", 0, count, True, FOREVER, wait_for_workers=False)
            others = [stack.enter_context(_other(number, count, store.port)) for number in range(1, count)]
        store.set(f"{READY}{rank}", "")
        _await(store, count, others)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=count, timeout=FOREVER)
        stack.callback(dist.destroy_process_group)
        yield Workers(Processes())


def _meet(task: Task) -> dist.TCPStore:
    """Return the store in which the workers of a launcher meet.

    Raises:
        UserError: The first one has not begun in time, or another program listens at its port.
    """
    holds, limit = task.rank == 0 and not task.has_agent, timedelta(seconds=START_SECONDS)
    try:
        store = dist.TCPStore(task.host, task.port, task.count, holds, limit, wait_for_workers=False)
    except RuntimeError as error:
        raise UserError(
            f"the processes of this job cannot meet at port {task.port} of {task.host}; a job with one process needs "
            f"no port ({str(error).splitlines()[0]:.120})"
        ) from None
    store.set_timeout(FOREVER)
    return store


def _await(store: dist.Store, count: int, others: list[subprocess.Popen[bytes]]) -> None:
    """Wait until all workers have begun.

    Args:
        store: Store in which each says so.
        count: Number of workers.
        others: Those that this process has started.

    Raises:
        UserError: One of them has ended, or has not begun in time.
    """
    deadline = time.monotonic() + START_SECONDS
    while not store.check([f"{READY}{rank}" for rank in range(count)]):
        ended = next((process for process in others if process.poll() is not None), None)
        if ended is not None or time.monotonic() > deadline:
            reason = "has not begun" if ended is None else f"has ended with exit code {ended.returncode}"
            raise UserError(f"a worker {reason}: a job with one worker prints why")
        time.sleep(0.05)


@contextlib.contextmanager
def _other(rank: int, count: int, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Return another worker on this machine, a process with the same command, in a context that ends it."""
    variables = {"RANK": rank, "WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, AGENT: True}
    command = [sys.executable, "-P", "-m", "fedatlas", *sys.argv[1:], "--threads", "1"]
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
        process.wait()
