"""An estimate of the memory that a run takes, and a check of it before the run starts. No result depends on it."""

import tempfile
from collections.abc import Sequence

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.engine import memory
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.io.machine import format_size, free_disk

ROWS = 6  # arrays of a block that exist at the same time: states, the model, gradients and their combinations
ACTIVE = 100  # rounds of which the largest number of participants counts
SCAN = 20_000  # rounds whose participants are counted; in longer runs all clients are


def _most_active(simulation: Simulation) -> int:
    setting = simulation.setting
    if simulation.rounds is not None:
        return 1  # clients compute one after another
    if setting.full_participation:
        return setting.clients
    rounds = range(min(ACTIVE, setting.total_rounds))
    return max(len(simulation.participants.active(t)) for t in rounds)


def estimate(simulation: Simulation) -> tuple[dict[str, int], int]:
    """Estimate the memory of a simulation.

    Returns:
        Bytes by part, and the number of clients whose states are kept. The parts are ``model``: the server's state, and
        the vectors of the blocks that are computed at once; ``clients``: states of all clients that will have been
        active, with an error of their channel of one vector at least;
        ``draws``: the clients' draws in a round; and the problem's ``data`` and ``activations``.
    """
    setting, problem = simulation.setting, simulation.problem
    vector = problem.dim * simulation.x0.dtype.itemsize
    server = sum(getattr(value, "nbytes", 8) for _, value in simulation.s.items())
    width = simulation.clients.table.row_bytes / vector
    block = min(simulation.block, setting.clients) * simulation.threads
    stateful, up = stateful_clients(simulation), simulation.clients.channels.up
    state = simulation.clients.table.row_bytes + (vector if up is not None and up.error_feedback else 0)
    active = _most_active(simulation)
    waiting = 0 if simulation.rounds is None else simulation.rounds.kept
    parts = {
        "model": (2 + waiting) * server + block * int((ROWS + 2 * width) * vector),
        "clients": stateful * state,
        "draws": memory.draws(problem, setting, active),
    }
    batch = setting.batch or problem.samples // setting.clients
    return parts | problem.memory(batch, block), stateful


def stateful_clients(simulation: Simulation) -> int:
    """Return the number of clients that will be active in some round; in very long runs, all. 0 without states."""
    setting, active = simulation.setting, np.zeros(simulation.setting.clients, bool)
    if not simulation.clients.stateful:
        return 0
    for t in range(setting.total_rounds):
        if t == SCAN or active.all():
            return setting.clients
        active[simulation.participants.active(t)] = True
    return int(active.sum())


def require(simulations: Sequence[Simulation]) -> str:
    """Return the estimate for simulations that run at once, as a sentence.

    Raises:
        UserError: If free memory or disk is too small, with the numbers.
    """
    estimates = [estimate(simulation) for simulation in simulations]
    parts, stateful = estimates[0][0], max(count for _, count in estimates)
    for name in ("model", "clients"):
        parts[name] = sum(estimate[name] for estimate, _ in estimates)
    first = simulations[0]
    on_disk = first.setting.state == "disk"
    text = f"about {format_size(sum(parts.values()))}: {format_size(parts['model'])} for the model"
    if parts["clients"]:
        where = " on disk" if on_disk else ""
        text += f", {format_size(parts['clients'])} for states of {stateful} clients{where}"
    for name, words in (
        ("draws", "the rows that clients draw"),
        ("data", "data"),
        ("activations", "activations"),
    ):
        if parts.get(name):
            text += f", {format_size(parts[name])} for {words}"
    stored = parts["clients"] if on_disk else 0
    for need, free, resource in (
        (sum(parts.values()) - stored, first.problem.free_memory(), "memory"),
        (stored, free_disk(), f"space in {tempfile.gettempdir()}"),
    ):
        if need > free:
            advice = (
                "set TMPDIR to a larger disk"
                if resource != "memory"
                else "keep client states on disk (state: disk)"
                if parts["clients"] > need / 2
                else "take a smaller batch, model or data set, or a larger machine"
            )
            raise UserError(
                f"{first.algorithm.name} needs {text}; but only {format_size(free)} of {resource} are free: {advice}"
            )
    return text
