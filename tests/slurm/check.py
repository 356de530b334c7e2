"""``check.py LOG`` checks what was submitted to SLURM, by its log of jobs, and that the results are whole."""

import collections
import re
import sys
from pathlib import Path
from types import SimpleNamespace

from fedatlas.experiments import result_files as files
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.resources import is_network
from fedatlas.workflow.study import Study


def tour(log):
    study = Study.open()
    cells = [
        (cell, Path(path))
        for name in ("fedac_fig1", "fedspeed_lenet")
        for cell, path in zip(study.cells("smoke", name).values(), _run_files(study, name), strict=True)
    ]
    for cell, path in cells:
        assert files.read(path)[1]["spec"] == cell.spec.to_dict(), path
    assert Path("results/report.html").exists() and Path("results/mlflow.json").exists()
    states = collections.Counter(re.findall(r"JobState=(\S+)", Path(log).read_text()))
    alone = sum(is_network(cell.spec.problem) for cell, _ in cells)
    print(f"{len(cells)} cells, {alone} of them networks, on SLURM: {dict(states)}")
    assert states == {"COMPLETED": alone + 2, "CANCELLED": 1}  # an optimum, and one job of all small cells


def _run_files(study, name):
    return Graph(study).run_files(SimpleNamespace(size="smoke", experiment=name))


if __name__ == "__main__":
    tour(sys.argv[1])
