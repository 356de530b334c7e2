"""Experiments whose runs come from the record need no network: what would fetch data for itself alone is left out."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from fedatlas.data.sources import info
from fedatlas.io.yaml import read_yaml
from fedatlas.records import lookup
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study, create_study
from tests.workflow.studies import jobs, snakemake

ROOT = Path(__file__).parents[2]
RECORDED = sorted(lookup.record_paths(Study.from_config({}, root=ROOT)))
FETCHED = {"a9a", "mnist", "fashion-mnist", "mushrooms"}  # data sets of recorded experiments that have an address


@pytest.fixture(autouse=True)
def no_mirrors(monkeypatch):
    monkeypatch.delenv("FEDATLAS_DATA_MIRRORS", raising=False)


def graph_of(folder, **config):
    """The graph of the atlas's own study with an empty folder of data."""
    settings = read_yaml(ROOT / "config/config.yaml") | {"data": str(folder / "data")} | config
    return Graph(Study.from_config(settings, root=ROOT), may_leave_out=True)


def wanted(graph, size, name):
    """Files that all jobs of an experiment but those of its runs read, if these come from the record."""
    at = SimpleNamespace(size=size, experiment=name)
    parts = [graph.claims_inputs(at)]
    parts += [
        graph.interim_analysis_inputs(SimpleNamespace(**vars(at), seeds=seeds))
        for seeds in graph.study.experiment(size, name).analyses
    ]
    drawn = {Path(path).stem for path in graph.figure_files(size, name)}
    parts += [graph.figure_inputs(SimpleNamespace(**vars(at), figure=figure)) for figure in drawn]
    return {
        path for files in parts for value in files.values() for path in ([value] if isinstance(value, str) else value)
    }


@pytest.mark.parametrize(("size", "name"), RECORDED)
def test_no_experiment_of_the_record_downloads_data(size, name, tmp_path, monkeypatch):
    graph = graph_of(tmp_path)
    monkeypatch.setattr(graph.records, "find", lambda w: "restored")
    graph._cards = []  # which take a third of the time to read
    prepared = {Path(path).parent.name for path in wanted(graph, size, name) if "/prepared/" in path}
    assert {data for data in prepared if not info(data).embedded} == set()
    left_out = graph.figures_left_out(size, name)
    assert all(set(data) <= FETCHED for data in left_out.values())
    facts = json.loads(graph.specification("about", SimpleNamespace(size=size, experiment=name)))
    assert facts["left_out"] == left_out and not facts["figures"].keys() & left_out.keys()
    assert facts["figures"].keys() | left_out.keys() == graph.study.experiment(size, name).figures.keys()


def test_a_figure_is_left_out_as_long_as_its_data_are_not_here(tmp_path):
    at, figure = ("laptop", "fedawe_fig3"), "results/laptop/fedawe_fig3/figures/availability.png"
    graph = graph_of(tmp_path)
    assert graph.figures_left_out(*at) == {"availability": ["fashion-mnist"]}
    assert figure not in graph.report_inputs("laptop", ["fedawe_fig3"])
    assert Graph(graph.study).figures_left_out(*at) == {}
    assert graph_of(tmp_path, record="ignore").figures_left_out(*at) == {}
    (tmp_path / "mirror/fashion-mnist").mkdir(parents=True)
    for file in info("fashion-mnist").forms[0].files:
        (tmp_path / "mirror/fashion-mnist" / file.name).touch()
    graph = graph_of(tmp_path, data_mirrors=[str(tmp_path / "mirror")])
    assert graph.figures_left_out(*at) == {}
    assert figure in graph.report_inputs("laptop", ["fedawe_fig3"])


def test_snakemake_plans_an_experiment_of_the_record_without_data(tmp_path):
    study = create_study(str(tmp_path / "study"))
    done = snakemake(study, "-np", "fedac_replay", "--config", "size=paper")
    assert {"train", "figure", "claims", "report_one"} <= jobs(done) and "prepare" not in jobs(done)
