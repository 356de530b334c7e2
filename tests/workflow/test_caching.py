"""Nothing is recomputed without a reason: the real workflow, run again after each kind of change."""

import pytest

from fedatlas.experiments import result_files as files

RUNS = {name: f"smoke/tiny/runs/{name}/all.parquet" for name in ("fedavg", "scaffold", "fedprox")}
TARGETS = ("results/smoke/tiny/claims.csv", "results/smoke/tiny/figures/loss.png")


@pytest.mark.slow  # test_edits.py plans after each edit, and makes what two of them need
def test_only_what_changed_is_made_again(project):
    result = project.made_by(*TARGETS)
    assert {RUNS["fedavg"], RUNS["scaffold"], "smoke/tiny/table.parquet", "smoke/tiny/figures/loss.svg"} <= result

    assert project.made_by(*TARGETS) == set(), "nothing changed"

    project.edit("src/fedatlas/federation/algorithms/scaffold.py", '"""SCAFFOLD (', '"""The SCAFFOLD (')
    project.edit("src/fedatlas/federation/algorithms/scaffold.py", "        y = s.x\n", "        y = s.x  # start\n")
    project.edit("config/experiments/tiny.yaml", "title: Tiny", "# a remark\ntitle: Tiny")
    project.edit("config/config.yaml", "size: smoke", "size: smoke  # small")
    assert project.made_by(*TARGETS) == set(), "comments and docstrings"

    project.edit("src/fedatlas/federation/algorithms/scaffold.py", "y = s.x  # start", "y = 1.0 * s.x")
    result = project.made_by(*TARGETS)
    assert RUNS["scaffold"] in result and "smoke/tiny/figures/loss.png" in result, "an algorithm's code"
    assert RUNS["fedavg"] not in result

    before = _seconds(project, "fedavg")
    project.write_experiment(tune={"lr": [0.01, 0.02, 0.05]}, seeds=[0, 1])
    result = project.made_by(*TARGETS)
    assert {RUNS["fedavg"], RUNS["scaffold"]} <= result, "a tuning value and a seed"
    after = _seconds(project, "fedavg")
    common = set(before) & set(after)
    assert {(0.01, 1000), (0.05, 1000)} <= common and {(0.02, 1000)} <= set(after) - common
    assert all(after[run] == before[run] for run in common), "runs that were there are not run again"

    project.write_experiment(
        tune={"lr": [0.01, 0.02, 0.05]}, seeds=[0, 1], algorithms={"fedavg": None, "scaffold": None, "fedprox": None}
    )
    result = project.made_by(*TARGETS)
    assert RUNS["fedprox"] in result and "smoke/tiny/table.parquet" in result, "another algorithm"
    assert not {RUNS["fedavg"], RUNS["scaffold"]} & result

    project.write_experiment(
        tune={"lr": [0.01, 0.02, 0.05]},
        seeds=[0, 1],
        algorithms={"fedavg": None, "scaffold": None, "fedprox": None},
        figures={"loss": {"kind": "convergence", "x": "rounds", "y": "loss", "yscale": "linear", "caption": "Loss."}},
    )
    result = project.made_by(*TARGETS)
    of_figure = {f"smoke/tiny/figures/loss.{suffix}" for suffix in ("csv", "json", "pdf", "png", "svg")}
    assert result == of_figure, "a figure's option"


def _seconds(project, id):
    """Training seconds of each run in a run file: no two runs take the same time."""
    frame, _ = files.read(project.folder / "results" / RUNS[id])
    return frame.groupby(["lr", "seed"])["seconds"].max().to_dict()
