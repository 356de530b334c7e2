"""One cell passes through few files of the package on its way from the experiment file to report and MLflow."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TRACER = Path(__file__).with_name("tracer")  # holds a sitecustomize.py, which Python imports by itself
EXPERIMENT, ALGORITHM = "fedac_fig1", "fedac-1"
COMPILER = {"federation/compiled/simd.py"}  # runs when kernels are compiled first
MOST = 100


def belongs_to_the_cell(words):
    """Return whether a process serves the cell: it neither prepares data nor computes a cell of another algorithm."""
    if words[1:3] == ["job", "run"]:
        return any(f"/runs/{ALGORITHM}/" in word for word in words)
    return words[1:3] != ["data", "fetch"]


@pytest.mark.slow
def test_a_cell_passes_through_few_files(project, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    environment = project.environment | {"FEDATLAS_TRACE": str(notes)}
    environment["PYTHONPATH"] = os.pathsep.join([str(TRACER), environment["PYTHONPATH"]])
    command = [sys.executable, "-m", "snakemake", "--cores", "2", EXPERIMENT, "--config", "size=smoke"]
    done = subprocess.run(command, cwd=project.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    processes = [json.loads(path.read_text()) for path in notes.iterdir()]
    passed = {file for words, files in processes if belongs_to_the_cell(words) for file in files} - COMPILER
    assert {"experiments/run.py", "publish/tracking/log.py", "workflow/graph.py"} <= passed
    assert len(passed) <= MOST, "\n".join(sorted(passed))
