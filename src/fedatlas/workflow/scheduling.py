"""How fast Snakemake starts jobs."""

from typing import Any

USUAL = (100, 1)  # Snakemake's own limit: jobs, and seconds in which they start


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
