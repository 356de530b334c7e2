"""A workflow that is killed again and again ends with the bits of one that was left alone."""

import random
import time

import pytest

from tests.workflow.kills import kill, left_over, whole_time
from tests.workflow.project import same_results

pytestmark = pytest.mark.slow
KILLS = 6
TARGET = "results/smoke/tiny/claims.csv"
EXPERIMENT = {
    "problem": {"kind": "logistic", "data": "breast_cancer", "l2": 0.01, "partition": "iid"},
    "optimum": True,
    "setting": {"clients": 10, "rounds": 200, "batch": 4, "local_steps": 4},
    "tune": {"lr": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]},
    "seeds": [0, 1],
    "algorithms": {"fedavg": None, "scaffold": None, "fedprox": {"set": {"nu": 0.1}}, "mb-sgd": None},
}


def test_killed_at_random_moments(project, another):
    for item in (project, another):
        item.write_experiment(**EXPERIMENT)
        item.edit("src/fedatlas/experiments/run.py", "SAVE_SECONDS = 60", "SAVE_SECONDS = 0")
    duration = whole_time(another, TARGET)
    killed = kill(
        project, [TARGET], KILLS, duration, random.Random(time.time_ns())
    )  # the bits are the same for any moment
    print(f"{killed} of {duration:.1f} s")
    assert killed

    project.snakemake(TARGET)
    same_results(project, another)
    assert project.made_by(TARGET) == set(), "it knows that all is done"
    assert not left_over(project)
