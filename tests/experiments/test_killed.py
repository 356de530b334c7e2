"""Jobs that are really killed: another job goes on and writes the same run file."""

import json
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

from fedatlas.data.store import prepare
from fedatlas.experiments import result_files as files
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.run import run_cell

SPEC = CellSpec(
    algorithm="scaffold",
    parameters={},
    problem={"kind": "softmax", "data": "digits", "l2": 0.001, "partition": {"kind": "dirichlet", "alpha": 0.6}},
    setting={
        "clients": 20,
        "local_epochs": 2,
        "rounds": 60,
        "batch": 16,
        "participation": {"kind": "uniform", "count": 5},
        "eval_rounds": 7,
    },
    tune={"lr": [0.05, 0.1]},
    select=Select(metric="loss", statistic="best", goal="min", extend=1, seeds=[1000]),
)


MORTAL = """
import os, sys
from fedatlas.cli.main import main
from fedatlas.experiments import run
from fedatlas.federation.engine.checkpoint import Checkpointer

run.SAVE_SECONDS = 0
ending, left, *command = sys.argv[1:]
left, save = int(left), Checkpointer.save


def save_and_die(self, *args):
    global left
    self.share = float("inf")  # savings may take all the time
    save(self, *args)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), int(ending))


Checkpointer.save = save_and_die
sys.exit(main(command))
"""


@pytest.fixture
def job(tmp_path):
    """Runs the job, which saves as often as it may and gets a signal at its checkpoint of that number (0: never)."""
    prepare("digits", tmp_path)
    out = tmp_path / "runs" / "all.parquet"
    environment = os.environ | {"FEDATLAS_DATA": str(tmp_path), "OMP_NUM_THREADS": "1"}

    def start(ending=0, checkpoint=0):
        (tmp_path / "spec.json").write_text(json.dumps({"cell": SPEC.to_dict()}))
        command = ["job", "run", str(tmp_path / "spec.json"), str(out)]
        command = [sys.executable, "-c", MORTAL, str(int(ending)), str(checkpoint), *command]
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60)

    return start, out


@pytest.mark.parametrize("checkpoint", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_a_killed_job_goes_on_to_the_same_bits(job, tmp_path, checkpoint):
    start, out = job
    run_cell(SPEC, tmp_path / "whole.parquet", tmp_path)
    killed = start(signal.SIGKILL, checkpoint)
    assert killed.returncode == -signal.SIGKILL and out.with_suffix(".state").exists() and not out.exists()
    stopped = start(signal.SIGTERM, checkpoint)
    assert stopped.returncode == 128 + signal.SIGTERM and out.with_suffix(".state").exists() and not out.exists()
    ended = start()
    assert "stopped by SIGTERM" in stopped.stdout
    assert all("continues from round" in item.stdout for item in (stopped, ended))
    expected, pieces = (files.read(path)[0].drop(columns="seconds") for path in (tmp_path / "whole.parquet", out))
    pd.testing.assert_frame_equal(pieces, expected, check_exact=True)
    assert [path.name for path in out.parent.iterdir()] == ["all.parquet"]
