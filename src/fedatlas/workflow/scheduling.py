"""How fast Snakemake starts jobs."""

import logging
from typing import Any

from fedatlas.workflow.messages import LOGGER, STARTING

USUAL = (100, 1)  # Snakemake's own limit: jobs, and seconds in which they start


class Unlimited(logging.Handler):
    """Drops the limit on starting jobs before the first job. workflow: Snakemake's."""

    def __init__(self, workflow: Any) -> None:
        super().__init__()
        self.workflow = workflow

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        if getattr(record, "event", None) == STARTING:
            unlimited(self.workflow)


def install(workflow: Any) -> None:
    """Have `unlimited` called before the first job, when Snakemake has made its scheduler."""
    logging.getLogger(LOGGER).addHandler(Unlimited(workflow))


def unlimited(workflow: Any) -> None:
    """Let jobs on this machine start without a limit on their number in a second, if the limit is Snakemake's own.

    Snakemake's limiter adds a timer after each job, and each timer looks for new jobs once a second from then on. After
    600 jobs that takes a processor. workflow: Snakemake's, which has its scheduler already.
    """
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if limiter is not None and workflow.local_exec:
        given = workflow.scheduling_settings.max_jobs_per_timespan
        if (given.max_jobs, given.timespan) == USUAL:
            workflow.scheduler.job_rate_limiter = None
