"""The views that MLflow's user interface is given, and the page of the documentation about them."""

import base64
import dataclasses
import json
import re
import zlib
from pathlib import Path

import pytest

from fedatlas.publish import tracking
from fedatlas.publish.tracking import server, views
from fedatlas.publish.tracking.connection import connect
from fedatlas.publish.tracking.setting_runs import sent
from fedatlas.results.figures.style import styles
from tests.tracking.tiny import EXPERIMENT, experiment_facts, logged

FACTS = experiment_facts(EXPERIMENT)
PAGE = (Path(__file__).parents[2] / "docs/how-to/mlflow.md").read_text(encoding="utf-8")
SEARCHES = [row.split("|")[2].split("`")[1] for row in PAGE.partition("## Searches")[2].splitlines() if "| `" in row]


@pytest.fixture(scope="module")
def database(results, empty, tmp_path_factory):
    path = tmp_path_factory.mktemp("viewed") / "mlflow.db"
    path.write_bytes(empty.read_bytes())
    tracking.log(FACTS, results, f"sqlite:///{path}")
    return path


@pytest.fixture(scope="module")
def runs(database):
    return logged(f"sqlite:///{database}")


@pytest.mark.parametrize("view", views.views_of_size("smoke"))
def test_a_view_shows_what_runs_have(view, runs):
    client, (report,), settings, _ = runs
    tags = client.get_experiment(report.info.experiment_id).tags
    stored = json.loads(tags[f"mlflow.sharedViewState.{view.key}"])
    packed = stored["state"].removeprefix("deflate;")
    state = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert state == {name: stored[name] for name in state}  # older versions of MLflow read the fields
    assert stored["name"] and stored["createdAt"] == client.get_experiment_by_name("tiny").creation_time
    assert view.link(report.info.experiment_id) in tags["mlflow.note.content"]
    assert state["groupBy"] is None  # the row of a group is not a run
    order = f"{state['orderByKey']} {'ASC' if state['orderByAsc'] else 'DESC'}"
    result = client.search_runs([report.info.experiment_id], state["searchFilter"], order_by=[order])
    axes = {(r.data.params["local_steps"], r.data.params["clients"]) for r in result}
    if view.curves:
        assert axes == {("2", "3")} and {r.data.tags["phase"] for r in result} == {"setting"}
        assert sorted(r.data.tags["algorithm"] for r in result) == ["fedac", "fedavg"]
    else:
        assert [r.info.run_id for r in result] == [r.info.run_id for r in settings] and len(axes) == 4
        assert state["selectedColumns"][:4] == [
            "metrics.`score`", "tags.`interval`", "params.`local_steps`", "params.`clients`"
        ]  # fmt: skip
        for column in state["selectedColumns"]:
            kind, name = re.fullmatch(r"(\w+)\.`(.*)`", column).groups()
            assert kind == "attributes" or all(name in getattr(r.data, kind) for r in result)
    charted = {chart["metricKey"] for chart in state["compareRunCharts"]}
    assert charted == {"loss", "score"} and all("loss" in r.data.metrics for r in settings)


@pytest.mark.parametrize(
    "changes",
    [
        {"setting": {"channel": "identity"}},
        {"algorithms": {"fedavg": {"setting": {"channel": {"kind": "top-k"}}}}},
        {"algorithms": {"ef21": {"set": {"compressor": "identity"}}}},
    ],
)
def test_bits_are_shown_where_messages_are_coded(changes):
    facts = dataclasses.replace(FACTS, content=FACTS.content | changes)
    state = views.state(facts)
    assert {"metrics.`bits_up`", "metrics.`bits_down`"} <= set(state["selectedColumns"])
    assert "bits_up" in [chart.get("selectedXAxisMetricKey") for chart in state["compareRunCharts"]]
    assert "metrics.`bits_up`" not in views.state(FACTS)["selectedColumns"]
    coding = dataclasses.replace(FACTS, defaults={"diana": {"compressor": {"kind": "rand-k"}}})
    varied = dataclasses.replace(FACTS, axes=["channel.share"])
    assert sent(coding) == sent(varied) == "bits_up" and sent(FACTS) == "vectors_up"


def test_runs_have_the_colours_of_figures_and_the_duration_of_training(runs):
    _, (report,), settings, seeds = runs
    looks = styles({"fedavg": "fedavg", "fedac": "fedac-1"})
    for run in (*settings, *seeds):
        assert run.data.tags["mlflow.runColor"] == looks[run.data.tags["algorithm"]].colour
        assert run.info.end_time - run.info.start_time > 0
    durations = {
        group: sum(r.info.end_time - r.info.start_time for r in part) for group, part in (("a", settings), ("b", seeds))
    }
    assert durations["a"] == pytest.approx(durations["b"], abs=len(seeds)), "milliseconds, rounded up"
    assert report.info.end_time - report.info.start_time > durations["a"] - len(settings), "with the tuning"


def test_a_value_with_a_quotation_mark_is_not_searched():
    """MLflow has no escape for it."""
    search = views.search(FACTS, {"local_steps": "it's", "clients": "3"})
    assert search == "tags.size = 'smoke' AND tags.phase = 'setting' AND params.`clients` = '3'"


def test_the_column_of_names_shows_them_in_full(runs):
    """MLflow's letters are 12 pixels high, so that one of them is about 6.2 wide; colour and margins take 65."""
    widths = views.state(FACTS)["columnWidths"]
    assert max(65 + 6.2 * len(run.info.run_name) for run in runs[2]) < widths[views.NAME] < 300
    long = dataclasses.replace(FACTS, content=FACTS.content | {"grid": {"participation": ["p" * 99]}})
    assert views.state(long)["columnWidths"][views.NAME] == views.MAX_WIDTH


def test_a_long_view_fits_a_tag():
    facts = dataclasses.replace(FACTS, tune=[f"parameter_{number}_of_a_long_name" for number in range(60)])
    setting = {"local_steps": "2", "clients": "3"}
    (table, curves) = (view.tag(facts, 0, setting)[1] for view in views.views_of_size("smoke"))
    assert len(table) <= views.MAX_LENGTH and len(curves) <= views.MAX_LENGTH and json.loads(table)["state"]


def test_the_command_prints_the_address_of_each_view(database, runs, monkeypatch):
    monkeypatch.setattr(server, "connect", lambda address: connect(f"sqlite:///{database}"))
    lines = list(server._addresses("http://127.0.0.1:5000"))
    id = runs[1][0].info.experiment_id
    assert lines == [
        "MLflow: http://127.0.0.1:5000/#/experiments?workflowType=machine_learning",
        f"  tiny, smoke: http://127.0.0.1:5000/{views.View('smoke').link(id)}",
    ]


def test_a_view_of_a_person_is_left_alone():
    assert views.parse_key("0123abc") is None
    assert all(views.parse_key(view.key) == view for view in views.views_of_size("paper"))


@pytest.mark.parametrize("search", SEARCHES)
def test_the_searches_of_the_page_find_runs(runs, search):
    client, (report,), _, _ = runs
    assert client.search_runs([report.info.experiment_id], search)
