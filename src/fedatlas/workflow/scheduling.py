"""What happens as a run begins: Python looks for garbage again, and jobs on this machine start at any rate."""

import gc
import logging
from typing import Any

from fedatlas.workflow.console import LOGGER

STARTING = "run_info"  # the event of Snakemake before its first job
DEFAULT_LIMIT = (100, 1)  # of Snakemake: jobs, and seconds in which they start


class Starter(logging.Handler):
    """A handler of the records of a workflow of Snakemake that acts before the first job."""

    def __init__(self, workflow: Any) -> None:
        super().__init__()
        self.workflow = workflow

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        if getattr(record, "event", None) == STARTING:
            gc.enable()
            remove_limit(self.workflow)


def install(workflow: Any) -> None:
    """Act before the first job, when Snakemake has its scheduler.

    The jobs that Snakemake plans until then stay: to look for garbage among them takes a seventh of a plan's time.
    """
    gc.disable()
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
