"""A job reads nothing but its rule's declared inputs and parameters."""

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.workflow.project import forked_commands

MANY = {"train": 2, "figure": 99}  # jobs of a rule that are run; of others one, as all of them read alike
COMMAND = r"^Shell command: (.*<<'END'\n.*\nEND|.*)$"  # with what it reads from its standard input
REPEATABLE = {".json", ".npz", ".png", ".csv"}  # no wall time is in these files


def jobs(project):
    """(rule, inputs, outputs, shell command) of every job that makes files."""
    plan = project.snakemake("--dry-run", "--forceall", "--printshellcmds").stdout
    for rule, job in re.findall(r"^ *(?:local)?rule (\w+):\n(.*?)(?=^ *(?:local)?rule |\Z)", plan, re.M | re.S):
        if outputs := _paths(job, "output"):
            yield rule, _paths(job, "input"), outputs, re.search(COMMAND, job, re.M)[1]


def _paths(job, kind):
    result = re.search(rf"^ +{kind}: (.*)$", job, re.M)
    return [path.removesuffix(" (update)") for path in result[1].split(", ")] if result else []


@pytest.mark.slow
def test_each_job_runs_in_a_folder_that_holds_only_its_inputs(copied_project, tmp_path):
    project = copied_project.project
    environment = os.environ | {"PYTHONPATH": str(project.folder / "src"), "FEDATLAS_DATA": "data"}
    environment["PATH"] = f"{forked_commands()}:{environment['PATH']}"
    tried: Counter[str] = Counter()
    for number, (rule, inputs, outputs, command) in enumerate(jobs(project)):
        if tried[rule] == MANY.get(rule, 1):
            continue
        alone = tmp_path / str(number)
        for path in inputs:
            _copy(project.folder / path, alone / path)
        for path in [*outputs, *re.findall(r"results/logs/[^ ]*", command)]:
            (alone / path).parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command, shell=True, cwd=alone, env=environment, capture_output=True, text=True)
        logs = "".join(path.read_text() for path in alone.rglob("*.log"))
        assert done.returncode == 0, f"{rule} {outputs}: {done.stderr}{logs}"
        for path in outputs:
            assert (alone / path).exists(), f"{rule}: {path}"
            if Path(path).suffix in REPEATABLE and rule not in ("prepare", "track", "track_tour"):
                assert (alone / path).read_bytes() == (project.folder / path).read_bytes(), f"{rule}: {path}"
        written = [(alone / path).stat().st_mtime_ns for path in outputs]
        assert written[0] == max(written), f"{rule}: {outputs[0]} is asked for by other rules; it must be written last"
        tried[rule] += 1
    assert set(tried) == {
        "prepare", "partition", "optimum", "train", "about", "table", "figure", "figure_table", "claims", "report_one",
        "report_tour", "track_tour",
    }  # fmt: skip


def _copy(source, target):
    """A declared input; the arrays of a prepared data set lie beside its meta.json."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.name == "meta.json":
        shutil.copytree(source.parent, target.parent, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)
