"""The rate at which Snakemake starts jobs on this machine."""

import logging
from typing import Any

DEFAULT_LIMIT = (100, 1)  # of Snakemake: jobs, and seconds in which they start


def lift_limit(workflow: Any, record: logging.LogRecord) -> bool:
    """Let jobs on this machine start at any rate, if the limit is Snakemake's default.

    Snakemake's limiter adds a timer after each job, and each timer looks for new jobs once a second from then on. After
    600 jobs that takes a processor.

    Args:
        workflow: Snakemake's workflow.
        record: A record of its logger; at the one before the first job, it has its scheduler. All are shown.
    """
    if getattr(record, "event", None) == "run_info" and workflow.local_exec:
        limit = workflow.scheduling_settings.max_jobs_per_timespan
        if limit is not None and (limit.max_jobs, limit.timespan) == DEFAULT_LIMIT:
            workflow.scheduler.job_rate_limiter = None
    return True
