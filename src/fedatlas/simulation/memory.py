"""How much memory a run will take, said before it starts."""

import tempfile
from pathlib import Path

import numpy as np

from fedatlas.errors import UserError

ROWS = 6  # arrays of a block that are alive at once: its state, the model, gradients and what becomes of them
SCAN = 20_000  # rounds whose participants are looked at; in longer runs everybody is expected to have been there
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def estimate(simulation):
    """Bytes that a Simulation will take, roughly: {"model", "clients", "data", "activations"}, and its clients seen.

    model: server state, and the vectors of the blocks that are computed at once. clients: states of all clients that
    will have been active. data, activations: what the problem says.
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


def clients_seen(simulation):
    """How many clients will be active in some round; a bound in very long runs."""
    setting, seen = simulation.setting, np.zeros(simulation.setting.clients, bool)
    if not simulation.table.data:
        return 0
    for t in range(setting.total_rounds):
        if t == SCAN or seen.all():
            return setting.clients
        seen[simulation.participants.active(t)] = True
    return int(seen.sum())


def check(simulations):
    """The estimate as a sentence. Raises UserError, with the numbers, if simulations that run at once cannot fit."""
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


def free_host():
    """Bytes of memory that are free, to this process's control group if it has one."""
    import psutil

    free = psutil.virtual_memory().available
    for path in map(Path, LIMITS):
        try:
            limit = int(path.read_text())
        except (OSError, ValueError):
            continue
        free = min(free, limit - psutil.Process().memory_info().rss)
    return free


def free_disk():
    """Bytes that are free where client states on disk are kept."""
    import shutil

    return shutil.disk_usage(tempfile.gettempdir()).free


def size(count):
    """Bytes for people: ``1.5 GiB``."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.3g} GiB" if count < 1000 else f"{count:,.0f} GiB"
