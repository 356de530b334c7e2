"""Processes of a job that a launcher has started: SLURM's srun, or torchrun."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from fedatlas.errors import UserError

STEP = ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID")
FIRST_PORT, PORTS = 20_000, 12_000  # below those that Linux gives to outgoing connections
STEPS = 7  # of a job that have ports of their own, beside those of the next job on the same node
AGENT = "TORCHELASTIC_USE_AGENT_STORE"  # says that another process than the worker 0 holds the store


@dataclass(frozen=True)
class Task:
    """One of the processes of a job.

    Attributes:
        rank: Number of this process, from 0; the first one writes.
        count: Number of processes.
        host: Name or address of the machine of the first.
        port: Port at which they meet.
        has_agent: Whether a process of the launcher listens at the port, in place of the first.
    """

    rank: int
    count: int
    host: str
    port: int
    has_agent: bool = False


def current_task(count: int = 1, variables: Mapping[str, str] = os.environ) -> Task | None:
    """Return this process among those that a launcher has started, or None if there is no launcher.

    Variables of SLURM alone say nothing: a whole workflow may run in a job of several tasks.

    Args:
        count: Number of tasks that srun has started.
        variables: Environment variables.

    Raises:
        UserError: srun has not started so many.
    """
    if count > 1:
        return _slurm_task(count, variables)
    if "RANK" not in variables:
        return None
    rank, count, port = (int(variables[name]) for name in ("RANK", "WORLD_SIZE", "MASTER_PORT"))
    return Task(rank, count, variables["MASTER_ADDR"], port, variables.get(AGENT) == "True")


def _slurm_task(count: int, variables: Mapping[str, str]) -> Task:
    command = f"`srun --ntasks={count} fedatlas job run ...` in a job of SLURM starts them"
    if missing := [name for name in STEP if name not in variables]:
        raise UserError(f"--tasks is {count}, but {missing[0]} is not set, as it is in tasks of srun: {command}")
    job, step, nodes, started, rank = (variables[name] for name in STEP)
    if int(started) != count:
        raise UserError(f"--tasks is {count}, but srun has started {started}: {command}")
    return Task(int(rank), count, first_host(nodes), FIRST_PORT + (STEPS * int(job) + int(step)) % PORTS)


def first_host(nodes: str) -> str:
    """Return the first host of a list of nodes as SLURM writes it, such as ``node[003-010,12],login``."""
    hosts = re.match(r"(?:[^,[]|\[[^]]*\])*", nodes)
    return re.sub(r"\[([^],-]*)[^]]*\]", r"\1", hosts[0] if hosts else "")
