"""Jobs that are really killed: another job goes on and writes the same run file."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from fedatlas import data
from fedatlas.experiments import files, run

SPEC = {
    "algorithm": "scaffold",
    "parameters": {},
    "problem": {"kind": "softmax", "data": "digits", "l2": 0.001, "partition": {"kind": "dirichlet", "alpha": 0.6}},
    "setting": {
        "clients": 20,
        "local_epochs": 2,
        "rounds": 150,
        "batch": 16,
        "participation": {"kind": "uniform", "count": 5},
        "eval_rounds": 7,
    },
    "within": {},
    "tune": {"lr": [0.05, 0.1]},
    "seeds": [0],
    "optimum": False,
}


@pytest.fixture
def job(tmp_path):
    """A function that starts the job, which saves as often as it may; and the path of its run file."""
    data.prepare("digits", tmp_path)
    out = tmp_path / "runs" / "all.parquet"
    environment = os.environ | {"FEDATLAS_DATA": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "fedatlas.cli", "job", "run", json.dumps(SPEC), str(out), "--save-seconds", "0"]
    started = []

    def start():
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start, out
    for process in started:
        process.kill()
        process.communicate()


def wait_for_checkpoints(process, path, count):
    """Until the file was replaced so many times, or the process ended."""
    seen = set()
    while len(seen) <= count and process.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            seen.add(path.stat().st_mtime_ns)
        time.sleep(0.002)


def test_a_killed_job_goes_on_to_the_same_bits(job, tmp_path):
    start, out = job
    rng, state, said = random.Random(0), out.with_suffix(".state"), []
    run.run_cell(SPEC, tmp_path / "whole.parquet", tmp_path)
    for ending in (signal.SIGKILL, signal.SIGTERM):
        process = start()
        wait_for_checkpoints(process, state, rng.randint(1, 4))
        process.send_signal(ending)
        said.append(process.communicate(timeout=60)[0])
        assert process.returncode == {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 128 + signal.SIGTERM}[ending]
        assert state.exists() and not out.exists()
    said.append(start().communicate(timeout=60)[0])
    assert "stopped by SIGTERM" in said[1] and all("going on from round" in text for text in said[1:])
    whole, pieces = (files.read(path)[0].drop(columns="seconds") for path in (tmp_path / "whole.parquet", out))
    pd.testing.assert_frame_equal(pieces, whole, check_exact=True)
    assert [path.name for path in out.parent.iterdir()] == ["all.parquet"]
