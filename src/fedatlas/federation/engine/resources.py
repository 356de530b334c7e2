"""What a run takes of the machine: memory, which is checked before it is allocated, and threads for blocks of clients.

No result depends on either, since results of blocks come in the order of the blocks.
"""

import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.engine.setting import Setting
from fedatlas.io.machine import format_size, free_host

if TYPE_CHECKING:
    from fedatlas.federation.engine.simulation import Simulation
    from fedatlas.federation.problems.base import Problem

CLIENT = 64  # bytes that a client takes in lists of ids, probabilities and the like
SMALL = 2**24  # bytes that need no look at the free memory
ROWS = 6  # arrays of a block that exist at the same time: states, the model, gradients and their combinations
SCAN = 20_000  # rounds whose participants are counted; in longer runs all clients are
TRIALS = 3  # last rounds of each way whose times are compared
CLEAR = 1.25  # ratio of times that needs no more trials
AGAIN = 50  # rounds after which the slower way is tried again, since other jobs come and go


def require_for_draws(problem: "Problem", setting: Setting) -> None:
    """Raise UserError if clients and minibatches alone exceed the memory, before anything is allocated."""
    active = setting.clients if _common(problem, setting) else 1
    need = draws(problem, setting, active) + CLIENT * setting.clients
    if need > SMALL and need > (free := free_host()):
        raise UserError(
            f"the minibatches of a round of {setting.clients:,} clients need about {format_size(need)}; but only "
            f"{format_size(free)} of memory are free: take a smaller batch, fewer local steps, or fewer clients"
        )


def draws(problem: "Problem", setting: Setting, active: int) -> int:
    """Return roughly the bytes of the row numbers that clients draw in a round. active: clients that take part."""
    if setting.batch is None:
        return 0
    if setting.local_epochs is not None:
        samples = problem.samples if problem.partition is None else -(-problem.samples // setting.clients)
        return 16 * active * setting.local_epochs * samples
    if _common(problem, setting):
        return 8 * setting.clients * (setting.local_steps or 1) * setting.batch
    return 16 * active * (setting.local_steps or 1) * setting.batch


def _common(problem: "Problem", setting: Setting) -> bool:
    """Return whether the draws of all clients are made at once, whoever takes part."""
    return problem.partition is None and setting.sampling_kind.name == "replacement"


def stateful_clients(simulation: "Simulation") -> int:
    """Return the number of clients that will be active in some round; in very long runs, all. 0 without states."""
    setting, active = simulation.setting, np.zeros(simulation.setting.clients, bool)
    if not simulation.clients.stateful:
        return 0
    for t in range(setting.total_rounds):
        if t == SCAN or active.all():
            return setting.clients
        active[simulation.participants.active(t)] = True
    return int(active.sum())


def estimate_memory(simulation: "Simulation") -> tuple[int, int, int]:
    """Estimate the memory of a simulation, besides its data.

    Returns:
        Bytes of the server's state and the vectors of the blocks that are computed at once; bytes of the states of all
        clients that will have been active, with an error of their channel of one vector at least; and the number of
        these clients.
    """
    clients, vector = simulation.clients, simulation.problem.dim * simulation.x0.dtype.itemsize
    server = sum(getattr(value, "nbytes", 8) for _, value in simulation.s.items())
    block = min(simulation.block, simulation.setting.clients) * simulation.threads
    stateful, state, up = stateful_clients(simulation), clients.table.row_bytes, clients.channels.up
    client = state + (vector if up is not None and up.error_feedback else 0)
    return 2 * server + block * int(ROWS * vector + 2 * state), stateful * client, stateful


def require_memory(simulations: Sequence["Simulation"]) -> str:
    """Return the estimate for simulations that run at once, as a sentence.

    Raises:
        UserError: If free memory or disk is too small, with the numbers. Other devices report what they lack.
    """
    estimates, first = [estimate_memory(simulation) for simulation in simulations], simulations[0]
    model, states = (sum(sizes[part] for sizes in estimates) for part in (0, 1))
    on_disk, stateful = first.setting.state == "disk", max(count for _, _, count in estimates)
    text = f"about {format_size(model + states)}: {format_size(model)} for the model"
    if states:
        text += f", {format_size(states)} for states of {stateful} clients{' on disk' if on_disk else ''}"
    stored = states if on_disk else 0
    on_host = not arrays.is_torch(first.x0) or first.x0.device.type == "cpu"
    smaller = "take a smaller model, or keep client states on disk (state: disk)"
    disk = tempfile.gettempdir()
    for need, free, resource, advice in (
        (model + states - stored if on_host else 0, free_host(), "memory", smaller),
        (stored, shutil.disk_usage(disk).free, f"space in {disk}", "set TMPDIR to a larger disk"),
    ):
        if need > free:
            raise UserError(
                f"{first.algorithm.name} needs {text}; but only {format_size(free)} of {resource} are free: {advice}"
            )
    return text


def pool(threads: int) -> "Threads | Serial":
    """Return a pool of this many threads, a context manager with ``map``, which computes blocks of clients."""
    return Threads(threads) if threads > 1 else Serial()


class Threads(ThreadPoolExecutor):
    """A pool whose map runs only a little ahead of its consumer, so that few results are in memory at once."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.threads = threads

    # an executor's map has more arguments, which the engine does not use
    def map(self, work: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:  # type: ignore[override]
        """Yield the results of work on the blocks, in their order."""
        pending: deque[Future[Any]] = deque()
        for block in blocks:
            pending.append(self.submit(work, block))
            if len(pending) > self.threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class Serial:
    """A pool without threads: each block is computed when its result is consumed."""

    threads = 1
    map = staticmethod(map)

    def __enter__(self) -> "Serial":
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class Pace:
    """The choice of threads for the rounds of a run: as many as are allowed, or one where that is faster.

    Python computes on one thread at a time, and NumPy's calls on small arrays end before another thread has begun. So
    the first rounds take turns, and later ones follow the faster way, which changes their time alone.

    Attributes:
        threads: Threads of the next round.

    Args:
        most: Threads that are allowed.
    """

    def __init__(self, most: int) -> None:
        self.threads, self._most, self._rounds = most, most, 0
        self._times: dict[int, deque[float]] = {threads: deque(maxlen=TRIALS) for threads in (1, most)}

    def add(self, seconds: float) -> None:
        """Add the wall time of a round, per client and local step; that of the first round is left out."""
        if self._most == 1:
            return
        if self._rounds:
            self._times[self.threads].append(seconds)
        self._rounds += 1
        other, times = self._most if self.threads == 1 else 1, self._times
        if not all(times.values()):
            self.threads = other
            return
        faster = min(times, key=lambda threads: min(times[threads]))
        slower = self._most if faster == 1 else 1
        clear = min(times[slower]) >= CLEAR * min(times[faster])
        if not clear and min(map(len, times.values())) < TRIALS:
            self.threads = other
        else:
            self.threads = faster if self._rounds % AGAIN else slower


class Block(NamedTuple):
    """Clients that are computed together.

    Attributes:
        ids: Ids of the clients, (m,).
        positions: Their positions among the clients of the round.
    """

    ids: np.ndarray
    positions: slice


@dataclass(frozen=True)
class Division:
    """The blocks into which the clients of a round are divided.

    Attributes:
        size: Largest number of clients of a block.
        pace: Threads of the next round: there is a block for each of them.
        samples: Samples of all clients, (clients,).
        passes: Whether the steps of a client follow from its samples, so that clients of a block have equally many.
    """

    size: int
    pace: Pace
    samples: np.ndarray
    passes: bool

    def blocks(self, members: np.ndarray) -> Iterator[Block]:
        """Yield blocks of clients that take the same steps. members: Clients of the round, (m,)."""
        size, ends = min(self.size, -(-len(members) // self.pace.threads)), [len(members)]
        if self.passes:
            ends = [*(np.flatnonzero(np.diff(self.samples[members])) + 1), *ends]
        for begin, end in zip([0, *ends], ends, strict=False):
            for start in range(begin, end, size):
                positions = slice(start, min(start + size, end))
                yield Block(members[positions], positions)
