"""Snakemake's limit on the jobs that start in a second."""

import gc
import logging
from types import SimpleNamespace

import pytest

from fedatlas.workflow.console import LOGGER
from fedatlas.workflow.scheduling import Starter, install, remove_limit


def workflow(local=True, jobs=100, timespan=1):
    limit = SimpleNamespace(max_jobs=jobs, timespan=timespan)
    return SimpleNamespace(
        scheduler=SimpleNamespace(job_rate_limiter="limiter"),
        scheduling_settings=SimpleNamespace(max_jobs_per_timespan=limit),
        local_exec=local,
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, None), ({"local": False}, "limiter"), ({"jobs": 5}, "limiter"), ({"timespan": 60}, "limiter")],
)
def test_only_snakemakes_own_limit_on_local_jobs_is_dropped(arguments, expected):
    result = workflow(**arguments)
    remove_limit(result)
    assert result.scheduler.job_rate_limiter == expected


def test_garbage_is_looked_for_from_the_first_job_on(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    install(result := workflow())
    assert not gc.isenabled()
    (handler,) = (item for item in logging.getLogger(LOGGER).handlers if isinstance(item, Starter))
    handler.handle(logging.makeLogRecord({"event": "run_info"}))
    logging.getLogger(LOGGER).removeHandler(handler)
    assert gc.isenabled() and handler.workflow is result
