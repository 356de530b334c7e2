"""Experiments whose runs come from the record need no network: what would fetch data for itself alone is left out."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from fedatlas.data.sources import info
from fedatlas.io.yaml import read_yaml
from fedatlas.publish.report.facts import FACTS_FILE
from fedatlas.publish.report.page import write_report
from fedatlas.records import lookup
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.workflow import summary
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import claims as claims_job
from fedatlas.workflow.study import Study, create_study
from tests.report import sample
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
    parts = [graph.check_inputs(at)]
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


def test_a_check_whose_data_are_not_here_is_not_tested_and_says_so(tmp_path, monkeypatch):
    graph = graph_of(tmp_path)
    monkeypatch.setattr(graph.records, "find", lambda w: "restored")
    monkeypatch.setattr("fedatlas.workflow.graph.is_local", lambda *_: False)
    at = SimpleNamespace(size="laptop", experiment="asynchrony")
    spec = json.loads(graph.specification("claims", at))
    assert spec["lacking"] == ["digits"] and "lacking" not in json.loads(Graph(graph.study).specification("claims", at))
    timed = {name: claim for name, claim in spec["claims"].items() if "simulated_seconds" in str(claim["check"])}
    results = Results(graph.study.view("laptop", "asynchrony"), None, None, None, {})
    table = claims_job.judge(spec | {"claims": timed}, results, str(tmp_path))
    assert len(table) and set(table["verdict"]) == {NOT_TESTED}
    assert table["note"].str.startswith("It needs digits, which this machine has not.").all()


def test_page_and_summary_name_the_figure_and_the_command(tmp_path, monkeypatch):
    folder = tmp_path / "results/smoke/made_up"
    sample.results(folder, sample.experiment())
    facts = json.loads((folder / FACTS_FILE).read_text())
    left_out = {"theory": ["a9a"], "sizes": ["a9a", "mnist"]}
    (folder / FACTS_FILE).write_text(json.dumps(facts | {"left_out": left_out, "missing_data": ["a9a", "mnist"]}))
    write_report([folder], tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    assert "The figure <code>theory</code> is left out: it needs a9a, which is not on this machine" in html
    assert "it needs a9a and mnist, which are not on this machine" in html
    assert '<code class="command">fedatlas data fetch a9a mnist</code>' in html
    words = " ".join(summary.left_out({("smoke", "made_up"): folder}))
    assert words == (
        "theory, sizes of made_up (smoke): `fedatlas data fetch a9a mnist` and the same command again draw them"
    )
