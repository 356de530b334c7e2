"""Estimates of the memory that a run takes, and checks before it is allocated. No result depends on them."""

import shutil
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.engine.setting import Setting
from fedatlas.io.machine import format_size

if TYPE_CHECKING:
    from fedatlas.federation.engine.simulation import Simulation
    from fedatlas.federation.problems.base import Problem

CLIENT = 64  # bytes that a client takes in lists of ids, probabilities and the like
SMALL = 2**24  # bytes that need no look at the free memory
ROWS = 6  # arrays of a block that exist at the same time: states, the model, gradients and their combinations
ACTIVE = 100  # rounds of which the largest number of participants counts
SCAN = 20_000  # rounds whose participants are counted; in longer runs all clients are


def require_for_draws(problem: "Problem", setting: Setting) -> None:
    """Raise UserError if clients and minibatches alone exceed the memory, before anything is allocated."""
    active = setting.clients if _common(problem, setting) else 1
    need = draws(problem, setting, active) + CLIENT * setting.clients
    subject = f"the minibatches of a round of {setting.clients:,} clients"
    _require(problem, need, subject, "take a smaller batch, fewer local steps, or fewer clients")


def require_for_rows(problem: "Problem", active: int, row: int) -> None:
    """Raise UserError if the rows that the server gets from the active clients exceed the memory.

    Args:
        problem: Problem of the run.
        active: Number of active clients.
        row: Bytes of the row of one of them.
    """
    need = 2 * active * row  # as blocks and as one array
    subject = f"the rows that the server gets from {active:,} active clients"
    _require(problem, need, subject, "take fewer clients in a round, or a smaller model")


def _require(problem: "Problem", need: int, subject: str, advice: str) -> None:
    if need > SMALL and need > (free := problem.free_memory()):
        raise UserError(
            f"{subject} need about {format_size(need)}; but only {format_size(free)} of memory are free: {advice}"
        )


def draws(problem: "Problem", setting: Setting, active: int) -> int:
    """Return roughly the bytes of the numbers of rows that clients draw in a round. active: Clients that take part."""
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


def _most_active(simulation: "Simulation") -> int:
    setting = simulation.setting
    if simulation.rounds is not None:
        return 1  # clients compute one after another
    if setting.full_participation:
        return setting.clients
    rounds = range(min(ACTIVE, setting.total_rounds))
    return max(len(simulation.participants.active(t)) for t in rounds)


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


def estimate(simulation: "Simulation") -> tuple[dict[str, int], int]:
    """Estimate the memory of a simulation.

    Returns:
        Bytes by part, and the number of clients whose states are kept. The parts are ``model``: the server's state, and
        the vectors of the blocks that are computed at once; ``clients``: states of all clients that will have been
        active, with an error of their channel of one vector at least; ``draws``: the clients' draws in a round; and the
        problem's ``data`` and ``activations``.
    """
    setting, problem, clients = simulation.setting, simulation.problem, simulation.clients
    vector = problem.dim * simulation.x0.dtype.itemsize
    server = sum(getattr(value, "nbytes", 8) for _, value in simulation.s.items())
    block = min(simulation.block, setting.clients) * simulation.threads
    stateful, state, up = stateful_clients(simulation), clients.table.row_bytes, clients.channels.up
    kept = state + (vector if up is not None and up.error_feedback else 0)
    waiting = 0 if simulation.rounds is None else simulation.rounds.kept
    parts = {
        "model": (2 + waiting) * server + block * int(ROWS * vector + 2 * state),
        "clients": stateful * kept,
        "draws": draws(problem, setting, _most_active(simulation)),
    }
    batch = setting.batch or problem.samples // setting.clients
    return parts | problem.memory(batch, block), stateful


def require(simulations: Sequence["Simulation"]) -> str:
    """Return the estimate for simulations that run at once, as a sentence.

    Raises:
        UserError: If free memory or disk is too small, with the numbers.
    """
    estimates, first = [estimate(simulation) for simulation in simulations], simulations[0]
    parts, stateful = estimates[0][0], max(count for _, count in estimates)
    for name in ("model", "clients"):
        parts[name] = sum(estimate[name] for estimate, _ in estimates)
    total, on_disk = sum(parts.values()), first.setting.state == "disk"
    words = {
        "model": "the model",
        "clients": f"states of {stateful} clients{' on disk' if on_disk else ''}",
        "draws": "the rows that clients draw",
        "data": "data",
        "activations": "activations",
    }
    sizes = [f"{format_size(parts[name])} for {part}" for name, part in words.items() if parts.get(name)]
    text = f"about {format_size(total)}: {', '.join(sizes)}"
    stored = parts["clients"] if on_disk else 0
    smaller = "take a smaller batch, model or data set, or keep client states on disk (state: disk)"
    disk = tempfile.gettempdir()
    for need, free, resource, advice in (
        (total - stored, first.problem.free_memory(), "memory", smaller),
        (stored, shutil.disk_usage(disk).free, f"space in {disk}", "set TMPDIR to a larger disk"),
    ):
        if need > free:
            raise UserError(
                f"{first.algorithm.name} needs {text}; but only {format_size(free)} of {resource} are free: {advice}"
            )
    return text
