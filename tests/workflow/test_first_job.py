"""What happens before the first job."""

import gc
import logging
from types import SimpleNamespace

import pytest

from fedatlas.workflow.summary import begin_jobs


@pytest.mark.parametrize(
    ("local", "jobs", "timespan", "expected"),
    [(True, 100, 1, None), (False, 100, 1, "limiter"), (True, 5, 1, "limiter"), (True, 100, 60, "limiter")],
)
def test_only_snakemakes_own_limit_on_local_jobs_is_dropped(local, jobs, timespan, expected):
    gc.disable()
    limit, scheduler = SimpleNamespace(max_jobs=jobs, timespan=timespan), SimpleNamespace(job_rate_limiter="limiter")
    settings = SimpleNamespace(max_jobs_per_timespan=limit)
    workflow = SimpleNamespace(scheduler=scheduler, scheduling_settings=settings, local_exec=local)
    for event, limiter in (("progress", "limiter"), ("run_info", expected)):
        assert begin_jobs(workflow, logging.makeLogRecord({"event": event})) and scheduler.job_rate_limiter == limiter
    assert gc.isenabled()
