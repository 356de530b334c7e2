"""`fedatlas list experiments` tells what each experiment re-runs, on which data, and how long it takes."""

import json

import pytest

from fedatlas.cli.main import main
from fedatlas.experiments import result_files
from fedatlas.experiments.view import TableMeta
from fedatlas.workflow import estimates, summary
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import experiment_costs, read_costs


def test_every_experiment_and_size_has_its_time_and_memory():
    files, costs = Study.open().files, experiment_costs(Study.open())
    for name in files.paths:
        sizes = summary.sizes(files.document(name))
        assert sizes
        for size in sizes:
            took = costs[name, size]
            assert took.seconds > 0 and took.runs > 0, f"{name} {size}: run `make times`"
            assert 100 < took.memory_mb < 100_000
    assert sum(took.measured for took in costs.values()) >= 30
    assert {name for name, _ in costs} == files.paths.keys(), (
        "times.csv names experiments that there are not: run `make times`"
    )


def test_json(capsys):
    assert main(["list", "experiments", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["experiments"]
    assert result["fedspeed_fig2"] == "Larger local intervals at equal work"


@pytest.fixture
def ran(project, monkeypatch):
    """A project with results of its experiment in size smoke."""
    monkeypatch.chdir(project.folder)
    meta = TableMeta([], {}, {}, 8, 0, 0.25, [])
    (project.folder / "results/smoke/tiny").mkdir(parents=True)
    result_files.write("results/smoke/tiny/table.parquet", [{"algorithm": "gd"}], meta.to_dict())
    return project


def test_times_are_those_measured_else_kept_else_estimated(ran):
    path = ran.folder / "times.csv"

    def write():
        estimates.write_times(Study.open(), path)
        return read_costs(path)

    first = write()
    smoke, laptop = first["tiny", "smoke"], first["tiny", "laptop"]
    assert (smoke.runs, smoke.seconds, smoke.measured) == (8, 0.25, True) and smoke.memory_mb > 0
    assert (laptop.runs, laptop.measured) == (6, False) and 0 < laptop.seconds
    (ran.folder / "results/smoke/tiny/table.parquet").unlink()
    assert write() == first
    path.unlink()
    assert {(cost.seconds, cost.measured) for cost in write().values()} == {(None, False)}


def test_a_broken_file_does_not_hide_the_others(tmp_path, monkeypatch, capsys):
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/experiments/broken.yaml").write_text("title: Broken\nsizes: {smoke: 5}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["list", "experiments"]) == 0 and "Broken" in capsys.readouterr().out
