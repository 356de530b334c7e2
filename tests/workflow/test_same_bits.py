"""The same bits, whatever the cores, the order of jobs, threads and blocks, and however often a workflow is killed."""

import random
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.workflow.kills import kill, left_over, whole_time
from tests.workflow.project import copied, same_results, same_runs

pytestmark = pytest.mark.slow


def test_the_tour_has_the_same_bits(tmp_path):
    project, other = (copied(tmp_path / name, complete=True) for name in ("one", "other"))
    with ThreadPoolExecutor() as pool:
        alone = pool.submit(project.snakemake, "--until", "train", "--cores", "1", timeout=1800)
        other.edit("src/fedatlas/federation/arrays.py", "BLOCK_BYTES = 1 << 22", "BLOCK_BYTES = 1 << 14")
        planned = other.snakemake("--until", "train", "--dry-run").stdout
        cells = sorted(set(re.findall(r"results/smoke/\S+/runs/\S+\.parquet", planned)))
        first = random.Random(0).sample(cells, len(cells) // 3)
        other.snakemake(*first, "--set-threads", "train=2", timeout=1800)
        other.snakemake("--until", "train", timeout=1800)
        alone.result()
    assert len(project.run_files()) > 20
    same_runs(project, other)


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
    moments = random.Random(time.time_ns())  # the bits are the same for any of them
    killed = kill(project, [TARGET], KILLS, duration, moments)
    print(f"{killed} of {duration:.1f} s")
    assert killed

    project.snakemake(TARGET)
    same_results(project, another)
    assert project.made_by(TARGET) == set(), "it knows that all is done"
    assert not left_over(project)
