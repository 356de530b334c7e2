"""An estimate of the memory that a run takes, and a check of it before the run starts. No result depends on it."""

import tempfile
from collections.abc import Sequence

import numpy as np

from fedatlas.errors import UserError
from fedatlas.machine import free_disk, size
from fedatlas.simulation.engine import Simulation

ROWS = 6  # arrays of a block that exist at the same time: states, the model, gradients and what is made of them
SCAN = 20_000  # rounds whose participants are looked at; in longer runs all clients count as seen


def estimate(simulation: Simulation) -> tuple[dict[str, int], int]:
    """Roughly the bytes that a simulation takes, by what takes them, and the number of clients that it keeps states of.

    The parts are ``model``: the server's state, and the vectors of the blocks that are computed at once; ``clients``:
    states of all clients that will have been active; ``data`` and ``activations``: what the problem says.
    """
    setting, problem = simulation.setting, simulation.problem
    vector = problem.dim * simulation.x0.dtype.itemsize
    server = sum(getattr(value, "nbytes", 8) for _, value in simulation.s.items())
    width = simulation.table.row_bytes / vector
    block = min(simulation.block, setting.clients) * simulation.threads
    seen = clients_seen(simulation)
    parts = {
        "model": 2 * server + block * int((ROWS + 2 * width) * vector),
        "clients": seen * simulation.table.row_bytes,
    }
    batch = setting.batch or problem.samples // setting.clients
    return parts | problem.memory(batch, simulation.threads), seen


def clients_seen(simulation: Simulation) -> int:
    """Number of clients that will be active in some round; in very long runs, all. 0 if clients have no state."""
    setting, seen = simulation.setting, np.zeros(simulation.setting.clients, bool)
    if not simulation.table.data:
        return 0
    for t in range(setting.total_rounds):
        if t == SCAN or seen.all():
            return setting.clients
        seen[simulation.participants.active(t)] = True
    return int(seen.sum())


def check(simulations: Sequence[Simulation]) -> str:
    """The estimate for simulations that run at once, as a sentence. Raises UserError, with the numbers, if free memory
    or disk is too small."""
    estimates = [estimate(simulation) for simulation in simulations]
    parts, seen = estimates[0][0], max(seen for _, seen in estimates)
    for name in ("model", "clients"):
        parts[name] = sum(other[name] for other, _ in estimates)
    first = simulations[0]
    on_disk = first.setting.state == "disk"
    text = f"about {size(sum(parts.values()))}: {size(parts['model'])} for the model"
    if parts["clients"]:
        where = " on disk" if on_disk else ""
        text += f", {size(parts['clients'])} for states of {seen} clients{where}"
    for name in ("data", "activations"):
        if parts.get(name):
            text += f", {size(parts[name])} for {name}"
    kept = parts["clients"] if on_disk else 0
    for need, free, what in (
        (sum(parts.values()) - kept, first.problem.free_memory(), "memory"),
        (kept, free_disk(), f"space in {tempfile.gettempdir()}"),
    ):
        if need > free:
            advice = (
                "set TMPDIR to a larger disk"
                if what != "memory"
                else "keep client states on disk (state: disk)"
                if parts["clients"] > need / 2
                else "take a smaller batch, model or data set, or a larger machine"
            )
            raise UserError(f"{first.algorithm.name} needs {text}; but only {size(free)} of {what} are free: {advice}")
    return text
