"""Checks of what was made on SLURM.

``check.py tour LOG`` checks what was submitted, by SLURM's log of jobs, and that the results are whole.
``check.py tasks ONE OTHER`` checks that two run files have the same bits; a job of several tasks made the other.
"""

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


def tasks(first, second):
    (rows, meta), (other_rows, other_meta) = map(files.read, (first, second))
    assert (meta["environments"][0]["clock"], other_meta["environments"][0]["clock"]) == ("processor", "wall")
    assert rows.drop(columns="seconds").equals(other_rows.drop(columns="seconds"))
    print("a network in two tasks has the bits of one")


if __name__ == "__main__":
    tour(sys.argv[2]) if sys.argv[1] == "tour" else tasks(*sys.argv[2:])
