"""What happens as a run begins: the lock on its folder gets an owner, and jobs on this machine start at any rate.

Snakemake's files in ``.snakemake/locks`` do not name their process. When a run begins, a file beside them, whose name
holds its process, lists those that are its own. The next run on this machine removes the locks of a dead process.
"""

import contextlib
import gc
import logging
from pathlib import Path
from typing import Any

from fedatlas.io.files import PREFIX, is_orphan, temporary_path, write_json
from fedatlas.io.text import read_json
from fedatlas.workflow.console import LOGGER

STARTING = "run_info"  # the event of Snakemake before its first job
LOCKS = Path(".snakemake/locks")
OWNED = "locks.json"  # the end of the name of the file of a process
DEFAULT_LIMIT = (100, 1)  # of Snakemake: jobs, and seconds in which they start


class Starter(logging.Handler):
    """A handler of Snakemake's records that acts before the first job."""

    def __init__(self, workflow: Any) -> None:
        """Create the handler for a workflow of Snakemake, which holds no locks yet."""
        super().__init__()
        self.workflow, self.locks = workflow, locks()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        if getattr(record, "event", None) == STARTING:
            gc.enable()
            remove_limit(self.workflow)
            claim(self.locks)


def install(workflow: Any) -> None:
    """Remove locks of dead processes, and act before the first job, when Snakemake has its scheduler and its locks.

    The jobs that Snakemake plans until then stay: to look for garbage among them takes a seventh of a plan's time.
    """
    gc.disable()
    release_dead()
    logging.getLogger(LOGGER).addHandler(Starter(workflow))


def remove_limit(workflow: Any) -> None:
    """Let jobs on this machine start at any rate, if the limit is Snakemake's default.

    Snakemake's limiter adds a timer after each job, and each timer looks for new jobs once a second from then on. After
    600 jobs that takes a processor.

    Args:
        workflow: Snakemake's workflow with its scheduler.
    """
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if limiter is not None and workflow.local_exec:
        limit = workflow.scheduling_settings.max_jobs_per_timespan
        if (limit.max_jobs, limit.timespan) == DEFAULT_LIMIT:
            workflow.scheduler.job_rate_limiter = None


def locks() -> dict[str, int]:
    """Return the names of Snakemake's locks and the times at which they were written."""
    with contextlib.suppress(OSError):
        return {path.name: path.stat().st_mtime_ns for path in LOCKS.glob("*.lock")}
    return {}


def claim(before: dict[str, int]) -> None:
    """Say that this process holds the locks that are new, unless other processes lock files at the same time.

    Args:
        before: Locks before this process wrote its own.
    """
    session_locks = {name: time for name, time in locks().items() if before.get(name) != time}
    if sorted(name.split(".")[1] for name in session_locks) in (["input", "output"], ["output"]):
        write_json(temporary_path(LOCKS.with_name(OWNED)), session_locks)


def release_dead() -> None:
    """Remove the locks of processes of this machine that are dead."""
    for path in LOCKS.parent.glob(f"{PREFIX}*{OWNED}"):
        if is_orphan(path, anywhere=False):
            now, session_locks = locks(), read_json(path)
            for name in [name for name, time in session_locks.items() if now.get(name) == time]:
                (LOCKS / name).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
