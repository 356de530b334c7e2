"""The summary that MLflow's user interface is given, and the page of the documentation about it."""

import base64
import json
import re
import zlib
from pathlib import Path

import pytest

from fedatlas.publish.tracking import page
from fedatlas.results.figures.style import styles
from tests.tracking.tiny import EXPERIMENT, experiment_facts, logged

FACTS = experiment_facts(EXPERIMENT)
PAGE = (Path(__file__).parents[2] / "docs/how-to/mlflow.md").read_text(encoding="utf-8")
SEARCHES = [row.split("|")[2].split("`")[1] for row in PAGE.partition("## Searches")[2].splitlines() if "| `" in row]


@pytest.fixture(scope="module")
def runs(database):
    return logged(f"sqlite:///{database}")


def test_the_summary_shows_what_runs_have(runs):
    client, (report,), settings, _ = runs
    tags = client.get_experiment(report.info.experiment_id).tags
    stored = json.loads(tags["mlflow.sharedViewState.fedatlas-smoke"])
    state = json.loads(zlib.decompress(base64.b64decode(stored["state"].removeprefix("deflate;"))))
    assert state == {name: stored[name] for name in state}  # older versions of MLflow read the fields
    assert stored["name"] and stored["createdAt"] == client.get_experiment_by_name("tiny").creation_time
    assert page._link("smoke", report.info.experiment_id) in tags["mlflow.note.content"]
    order = f"{state['orderByKey']} {'ASC' if state['orderByAsc'] else 'DESC'}"
    result = client.search_runs([report.info.experiment_id], state["searchFilter"], order_by=[order])
    assert [r.data.metrics["score"] for r in result] == sorted(r.data.metrics["score"] for r in settings)
    assert state["selectedColumns"][:4] == [
        "metrics.`score`", "tags.`interval`", "params.`local_steps`", "params.`clients`"
    ]  # fmt: skip
    for column in state["selectedColumns"]:
        kind, name = re.fullmatch(r"(\w+)\.`(.*)`", column).groups()
        assert all(name in getattr(r.data, kind) for r in result)
    # MLflow's letters are 12 pixels high, so that one of them is about 6.2 wide; colour and margins take 65
    width = state["columnWidths"][page.NAME]
    assert max(65 + 6.2 * len(run.info.run_name) for run in settings) < width < 300


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


def test_a_long_view_fits_a_tag():
    facts = FACTS | {"tune": [f"parameter_{number}_of_a_long_name" for number in range(60)]}
    text = page._summary(facts, ["n" * 99], 0)
    assert len(text) <= page.MAX_LENGTH and json.loads(text)["state"]
    assert json.loads(page._summary(FACTS, ["n" * 99], 0))["columnWidths"][page.NAME] == page.WIDEST


@pytest.mark.parametrize("search", SEARCHES)
def test_the_searches_of_the_page_find_runs(runs, search):
    client, (report,), _, _ = runs
    assert client.search_runs([report.info.experiment_id], search)
