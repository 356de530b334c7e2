"""`fedatlas list experiments` tells what each experiment re-runs, on which data, and how long it takes."""

import dataclasses
import json

import pytest

from fedatlas.cli.main import main
from fedatlas.experiments import result_files
from fedatlas.experiments.metadata import TableMeta
from fedatlas.workflow import listing, shipped_times, times
from fedatlas.workflow.configuration import shipped
from fedatlas.workflow.experiment_files import FOLDER, ExperimentFiles
from fedatlas.workflow.study import Study


@pytest.fixture(scope="module")
def experiments():
    return listing.summaries(Study.open())


def test_every_experiment_and_size_has_its_time_and_memory(experiments):
    costs = times.experiment_costs(Study.open())
    for item in experiments:
        assert item.sizes and item.data.keys() == item.sizes.keys()
        for size in item.sizes:
            took = costs[item.name, size]
            assert took.seconds > 0 and took.runs > 0, f"{item.name} {size}: run `make times`"
            assert 100 < took.memory_mb < 100_000
    assert sum(took.measured for took in costs.values()) >= 30
    names = {item.name for item in experiments}
    assert {name for name, _ in costs} == names, "times.csv names experiments that there are not: run `make times`"


def test_json(capsys):
    assert main(["list", "experiments", "--json"]) == 0
    (result,) = [item for item in json.loads(capsys.readouterr().out)["experiments"] if item["name"] == "fedspeed_fig2"]
    assert result["numbered"] == ["Figure 2", "Figure 5(c)", "Figure 5(d)"] and result["paper"] == "sun2023"
    assert result["data"] == {"smoke": ["digits"], "laptop": ["cifar10"], "paper": ["cifar10"]}
    assert (
        result["sizes"]["paper"]["seconds"] > result["sizes"]["laptop"]["seconds"] > result["sizes"]["smoke"]["seconds"]
    )
    assert main(["list", "data", "--json"]) == 0
    (section,) = json.loads(capsys.readouterr().out).values()
    assert "a9a" in [item["name"] for item in section]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fedac_fig3", "Figure 3 is a part of fedac_fig1"),
        ("fedac_figure_7", "Figure 7 is a part of fedac_fig6"),
        ("fedspeed_tab1", "Table 1 is a part of fedspeed_fig1b, fedspeed_fig1c and fedspeed_fig1d"),
        ("fedspeed_fig5c", "Figure 5(c) is a part of fedspeed_fig2"),
        ("fedred_figC.1", "Figure C.1 is a part of fedred_figc1"),
        ("fedsps_tab1", "Table 1 is the subject of claims in fedsps_fig3, fedsps_fig3b and fedsps_fig9"),
        (
            "fedac_fig99",
            "no experiment of fedac re-runs Figure 99; `fedatlas list experiments` shows what each re-runs",
        ),
        ("mine_fig3", ""),
        ("fedac_replay", ""),
    ],
)
def test_where_a_figure_is(name, sentence):
    files = ExperimentFiles(shipped(), FOLDER)
    assert files.explain_figure(name) == sentence


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

    def write(*folders):
        shipped_times.write(Study.open(), folders, path)
        return times.read_costs(path)

    unknown = write()
    assert {(cost.seconds, cost.measured) for cost in unknown.values()} == {(None, False)}
    first = write(ran.folder / "results")
    smoke, laptop = first["tiny", "smoke"], first["tiny", "laptop"]
    assert (smoke.runs, smoke.seconds, smoke.measured) == (8, 0.25, True) and smoke.memory_mb > 0
    assert (laptop.runs, laptop.measured) == (6, False) and 0 < laptop.seconds
    later = path.read_text().replace(f"tiny,laptop,6,{laptop.seconds:.2g}", "tiny,laptop,6,99")
    path.write_text(later)
    assert write() == first | {("tiny", "laptop"): dataclasses.replace(laptop, seconds=99)}, (
        "while the runs are the same"
    )
    ran.write_experiment(seeds=[0, 1])
    assert write()["tiny", "laptop"].seconds < 1


def test_a_broken_file_does_not_hide_the_others(tmp_path, monkeypatch, capsys):
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/experiments/broken.yaml").write_text("title: Broken\nsizes: {smoke: 5}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["list", "experiments"]) == 0 and "Broken" in capsys.readouterr().out
