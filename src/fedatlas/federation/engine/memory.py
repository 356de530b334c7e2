"""Checks of the memory before a run allocates it. No result depends on them."""

from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.federation.engine.setting import Setting
from fedatlas.io.machine import format_size

if TYPE_CHECKING:
    from fedatlas.federation.problems.base import Problem

CLIENT = 64  # bytes that a client takes in lists of ids, probabilities and the like
SMALL = 2**24  # bytes that need no look at the free memory


def require_for_draws(problem: "Problem", setting: Setting) -> None:
    """Raise UserError if clients and minibatches alone exceed the memory, before anything is allocated."""
    active = setting.clients if _common(problem, setting) else 1
    need = draws(problem, setting, active) + CLIENT * setting.clients
    if need > SMALL and need > (free := problem.free_memory()):
        raise UserError(
            f"the minibatches of a round of {setting.clients:,} clients need about {format_size(need)}; but only "
            f"{format_size(free)} of memory are free: take a smaller batch, fewer local steps, or fewer clients"
        )


def require_for_rows(problem: "Problem", active: int, row: int) -> None:
    """Raise UserError if the rows that the server gets from the active clients exceed the memory.

    Args:
        problem: Problem of the run.
        active: Number of active clients.
        row: Bytes of the row of one of them.
    """
    need = 2 * active * row  # as blocks and as one array
    if need > SMALL and need > (free := problem.free_memory()):
        raise UserError(
            f"the server gets a row from each of {active:,} active clients, which takes about {format_size(need)}; but "
            f"only {format_size(free)} of memory are free: take fewer clients in a round, or a smaller model"
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
