"""What happens as a run begins: the lock on its folder gets an owner, and jobs on this machine start at any rate."""

import logging
import sys
from pathlib import Path
from typing import Any

from fedatlas.workflow import ownership

LOGGER = "snakemake.logging"
STARTING = "run_info"  # the event of Snakemake before its first job
DEFAULT_LIMIT = (100, 1)  # of Snakemake: jobs, and seconds in which they start

RECORDS = Path(".snakemake/metadata")
FORGOTTEN = (
    f"fedatlas: {RECORDS} is missing, by which Snakemake knows what made a result: results count as current. `fedatlas "
    "clean --dry-run` lists run files of other code, and `fedatlas clean` removes them, so that they are made again"
)


class Starter(logging.Handler):
    """A handler of Snakemake's records that acts before the first job."""

    def __init__(self, workflow: Any) -> None:
        """Create the handler for a workflow of Snakemake, which holds no locks yet."""
        super().__init__()
        self.workflow, self.locks = workflow, ownership.locks()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        if getattr(record, "event", None) == STARTING:
            remove_limit(self.workflow)
            ownership.claim(self.locks)


def install(workflow: Any, results: str) -> None:
    """Remove locks of dead processes, and act before the first job, when Snakemake has its scheduler and its locks.

    Args:
        workflow: Snakemake's workflow.
        results: Folder of results. Where they are without Snakemake's records of them, a sentence says what that means.
    """
    if not RECORDS.exists() and next(Path(results).glob("*/*/runs*/*/*.parquet"), None):
        print(FORGOTTEN, file=sys.stderr, flush=True)
    ownership.release_dead()
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
