"""Two interpretations of one search, a given grid and one that extends it: one cell begins with the other's runs."""

from types import SimpleNamespace

import pandas as pd
import pytest

from fedatlas.experiments import expansion, result_files, run, tables
from fedatlas.experiments.cells import beginnings
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.experiments.test_config import GOOD, load
from tests.workflow.test_dry import checked

ALGORITHMS = {
    "given": {"algorithm": "fedavg"},
    "open": {"algorithm": "fedavg", "extend": 4},
    "wider": {"algorithm": "fedavg", "extend": 1},
    "denser": {"algorithm": "fedavg", "tune": {"lr": [0.0001, 0.0005, 0.001]}, "extend": 4},
    "fedprox": {"extend": 4},
}


@pytest.fixture
def cells(tmp_path):
    """Cells of an experiment whose best step size lies above its grid."""
    setting = {"clients": 2, "rounds": 10, "batch": None}
    select = GOOD["select"] | {"extend": 0}
    experiment = load(
        tmp_path,
        GOOD | {"tune": {"lr": [0.0001, 0.001]}, "setting": setting, "select": select, "algorithms": ALGORITHMS},
    )
    assert not experiment.grid
    return {cell.id: cell for cell in expansion.cells(experiment)}, experiment


def test_the_narrowest_search_begins_the_next_one(cells):
    pairs = {id: cell.id for (id, _), cell in beginnings(cells[0].values()).items()}
    assert pairs == {"wider": "given", "open": "wider"}


def test_shared_runs_are_run_once_and_have_the_bits_of_a_search_alone(cells, tmp_path, monkeypatch):
    (entries, experiment), done = cells, []
    original = run.run_simulations
    monkeypatch.setattr(
        run, "run_simulations", lambda simulations, **how: done.extend(simulations) or original(simulations, **how)
    )
    paths = {id: tmp_path / f"runs/{id}/all.parquet" for id in ("given", "open")}
    run.run_cell(entries["given"].spec, paths["given"])
    first = len(done)
    run.run_cell(entries["open"].spec, paths["open"], earlier=paths["given"])
    shared = len(done) - first
    run.run_cell(entries["open"].spec, tmp_path / "alone.parquet")
    alone = len(done) - first - shared
    frames = {id: result_files.read(path)[0] for id, path in paths.items()}
    assert frames["open"]["lr"].max() > 0.001 and 0 < shared <= alone - 2 * len(entries["open"].spec.tuning_seeds)
    expected = result_files.read(tmp_path / "alone.parquet")[0]
    pd.testing.assert_frame_equal(frames["open"].drop(columns="seconds"), expected.drop(columns="seconds"))
    layout = tables.Layout([], [], expansion.create_view(experiment).tune, experiment.select)
    ends = pd.concat(frames.values()).groupby(["lr", "seed"])["seconds"].max()
    meta = tables.build(layout, list(paths.values())).meta
    assert len(ends) == first + shared == meta.runs and meta.seconds == ends.sum()


def test_the_workflow_gives_a_job_the_runs_of_the_narrower_search(tmp_path):
    tune, select = {"lr": [0.01, 0.05]}, {"metric": "loss", "statistic": "best", "goal": "min", "extend": 0}
    algorithms = {"fedavg": None, "open": {"algorithm": "fedavg", "extend": 2}, "scaffold": None}
    checked(tmp_path, tune=tune, select=select, algorithms=algorithms)
    settings = {"size": "smoke", "tour": [], "experiments": "all", "data": "data", "data_mirrors": [], "mlflow_uri": ""}
    graph = Graph(Study(settings, root=tmp_path))
    inputs = {
        id: graph.run_inputs(SimpleNamespace(size="smoke", experiment="tiny", id=id, key="all")) for id in algorithms
    }
    assert inputs["open"]["earlier"].endswith("smoke/tiny/runs/fedavg/all.parquet")
    assert not any("earlier" in inputs[id] for id in ("fedavg", "scaffold"))
