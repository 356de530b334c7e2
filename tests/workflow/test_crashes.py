"""A workflow that is killed again and again ends with the bits of one that was left alone."""

import os
import random
import signal
import subprocess
import time

import pytest

from fedatlas.experiments import result_files as files
from tests.workflow.project import same_runs

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
    for one in (project, another):
        one.write_experiment(**EXPERIMENT)
        one.edit("src/fedatlas/experiments/run.py", "SAVE_SECONDS = 60", "SAVE_SECONDS = 0")
    start = time.monotonic()
    another.snakemake(TARGET)
    whole = time.monotonic() - start

    draw = random.Random(time.time_ns())  # whenever it is killed, the bits must be the same
    killed = []
    while len(killed) < KILLS:
        process = project.start(TARGET, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        moment = draw.uniform(0.1, 0.6) * whole
        try:
            process.wait(moment)
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed.append(round(moment, 1))
        for path in project.run_files().values():
            files.read(path)  # whole, or not there
        project.snakemake("--unlock")
    print(f"killed after {killed} s of {whole:.1f} s")
    assert killed

    project.snakemake(TARGET)
    same_runs(project, another)
    assert project.made_by(TARGET) == set(), "it knows that all is done"
    results = (project.folder / "results").rglob("*")
    assert not [path for path in results if path.name.startswith(".tmp") or path.suffix == ".part"]
