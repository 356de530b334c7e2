"""What happens before the first job: Python looks for garbage again, and jobs on this machine start at any rate."""

import gc
import logging
from typing import Any

DEFAULT_LIMIT = (100, 1)  # of Snakemake: jobs, and seconds in which they start


def begin_jobs(workflow: Any, record: logging.LogRecord) -> bool:
    """Look for garbage, which takes a seventh of a plan's time; and lift Snakemake's default limit on this machine.

    Snakemake's limiter adds a timer after each job, and each timer looks for new jobs once a second from then on. After
    600 jobs that takes a processor.

    Args:
        workflow: Snakemake's workflow.
        record: A record of its logger; at the one before the first job, it has its scheduler. All are shown.
    """
    if getattr(record, "event", None) == "run_info":
        gc.enable()
        limit = workflow.scheduling_settings.max_jobs_per_timespan
        if workflow.local_exec and limit is not None and (limit.max_jobs, limit.timespan) == DEFAULT_LIMIT:
            workflow.scheduler.job_rate_limiter = None
    return True
