"""An estimate of the memory that a run takes, and a check of it before the run starts. No result depends on it."""

import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.engine.setting import Setting
from fedatlas.io.machine import format_size, free_disk

if TYPE_CHECKING:
    from fedatlas.federation.engine.simulation import Simulation

ROWS = 6  # arrays of a block that exist at the same time: states, the model, gradients and what is made of them
ACTIVE = 100  # rounds of which the largest number of participants counts
CLIENT = 64  # bytes that a client takes in lists of ids, probabilities and the like
SCAN = 20_000  # rounds whose participants are looked at; in longer runs all clients count as seen


def require_for_draws(problem: Any, setting: Setting) -> None:
    """Raise UserError if clients and minibatches alone exceed the memory. It is asked before anything is allocated."""
    active = setting.clients if _common(problem, setting) else 1
    need = draws(problem, setting, active) + CLIENT * setting.clients
    if need > (free := problem.free_memory()):
        raise UserError(
            f"the minibatches of a round of {setting.clients:,} clients need about {format_size(need)}; but only {format_size(free)} "
            "of memory are free: take a smaller batch, fewer local steps, or fewer clients"
        )


def draws(problem: Any, setting: Setting, active: int) -> int:
    """Bytes, roughly, of the numbers of rows that clients draw in a round. active: clients that take part."""
    if setting.batch is None:
        return 0
    if setting.local_epochs is not None:
        own = problem.samples if problem.partition is None else -(-problem.samples // setting.clients)
        return 16 * active * setting.local_epochs * own
    if _common(problem, setting):
        return 8 * setting.clients * (setting.local_steps or 1) * setting.batch
    return 16 * active * (setting.local_steps or 1) * setting.batch


def _common(problem: Any, setting: Setting) -> bool:
    """Whether the draws of all clients are made at once, whoever takes part."""
    return problem.partition is None and setting.sampling_kind.name == "replacement"


def _most_active(simulation: "Simulation") -> int:
    setting = simulation.setting
    if setting.full_participation:
        return setting.clients
    rounds = range(min(ACTIVE, setting.total_rounds))
    return max(len(simulation.participants.active(t)) for t in rounds)


def estimate(simulation: "Simulation") -> tuple[dict[str, int], int]:
    """Roughly the bytes that a simulation takes, by what takes them, and the number of clients that it keeps states of.

    The parts are ``model``: the server's state, and the vectors of the blocks that are computed at once; ``clients``:
    states of all clients that will have been active; ``draws``: what they draw in a round; ``data`` and
    ``activations``: what the problem says.
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
        "draws": draws(problem, setting, _most_active(simulation)),
    }
    batch = setting.batch or problem.samples // setting.clients
    return parts | problem.memory(batch, block), seen


def clients_seen(simulation: "Simulation") -> int:
    """Number of clients that will be active in some round; in very long runs, all. 0 if clients have no state."""
    setting, seen = simulation.setting, np.zeros(simulation.setting.clients, bool)
    if not simulation.table.data:
        return 0
    for t in range(setting.total_rounds):
        if t == SCAN or seen.all():
            return setting.clients
        seen[simulation.participants.active(t)] = True
    return int(seen.sum())


def require(simulations: "Sequence[Simulation]") -> str:
    """The estimate for simulations that run at once, as a sentence. Raises UserError, with the numbers, if free memory
    or disk is too small."""
    estimates = [estimate(simulation) for simulation in simulations]
    parts, seen = estimates[0][0], max(seen for _, seen in estimates)
    for name in ("model", "clients"):
        parts[name] = sum(other[name] for other, _ in estimates)
    first = simulations[0]
    on_disk = first.setting.state == "disk"
    text = f"about {format_size(sum(parts.values()))}: {format_size(parts['model'])} for the model"
    if parts["clients"]:
        where = " on disk" if on_disk else ""
        text += f", {format_size(parts['clients'])} for states of {seen} clients{where}"
    for name, words in (("draws", "the rows that clients draw"), ("data", "data"), ("activations", "activations")):
        if parts.get(name):
            text += f", {format_size(parts[name])} for {words}"
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
            raise UserError(
                f"{first.algorithm.name} needs {text}; but only {format_size(free)} of {what} are free: {advice}"
            )
    return text
