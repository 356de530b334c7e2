"""The real workflow on custom data: an edited file makes exactly its dependants again; a mistake comes up at once."""

import os

import numpy as np
import pandas as pd
import pytest

MINE = {"file": "mine.csv", "label": "y", "client": "hospital"}
OTHER = {"file": "other.csv", "label": "y", "client": "hospital", "standardise": True}


def write(project, name, seed, rows=40):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=list("abc")).assign(y=np.arange(rows) % 2)
    frame["hospital"] = rng.choice(["north", "south", "east"], rows)
    frame.to_csv(project.folder / name, index=False)


@pytest.mark.slow
def test_own_data_from_file_to_figure(project):
    write(project, "mine.csv", 0)
    write(project, "other.csv", 1)
    project.write_experiment(
        problem={"kind": "logistic", "data": MINE, "partition": "natural", "l2": 0.1},
        setting={"rounds": 3, "local_steps": 2},
        optimum=True,
        grid={"problem.data": [MINE, OTHER]},
        figures={
            "loss": {"kind": "convergence", "x": "rounds", "panel": "problem.data", "caption": "Loss."},
            "split": {"kind": "partition", "caption": "Rows."},
        },
        claims={},
    )
    result = project.made_by("tiny")
    assert {"tiny/figures/loss.png", "tiny/figures/split.png"} <= {name.removeprefix("smoke/") for name in result}
    report = (project.folder / "results/smoke/tiny/report.html").read_text()
    assert "Own data: mine.csv" in report and "0 is east, 1 is north, 2 is south" in report
    assert not project.made_by("tiny")

    os.utime(project.folder / "mine.csv")
    assert not project.made_by("tiny")

    write(project, "mine.csv", 0, rows=44)
    result = project.made_by("tiny")
    assert any("mine+" in name for name in result) and not any("other+" in name for name in result)
    assert {name.split("/")[0] for name in result if "+" in name} == {"data", "partitions", "optima", "smoke"}

    (project.folder / "mine.csv").write_text("a,b,c,y,hospital\n1,2,3,0\n")
    done = project.snakemake("tiny", check=False)
    assert done.returncode == 1 and "mine.csv: row 1: column 'hospital' (client) has no value" in done.stderr
    assert "Traceback" not in done.stderr and not project.made_by("--version")
