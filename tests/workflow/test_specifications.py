"""Specifications reach jobs through standard input, whatever the names of folders and however large they are."""

import json
import re
from types import SimpleNamespace

import pytest

from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.workflow.project import TINY
from tests.workflow.studies import jobs

ARGUMENT_LIMIT = 131_072  # bytes of an argument of a process on Linux


def test_a_specification_may_be_larger_than_an_argument(project):
    notes = ["word " * (ARGUMENT_LIMIT // 5), "'END'\nEND\n$HOME `id` {output} {{ \\n"]
    project.write_experiment(notes=notes)
    project.snakemake("results/smoke/tiny/about.json")
    record = project.folder / "results/smoke/tiny/about.json"
    assert record.stat().st_size > ARGUMENT_LIMIT
    assert json.loads(record.read_text())["notes"] == notes


def test_the_order_of_seeds_changes_no_digest(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    w, digests = SimpleNamespace(size="smoke", experiment="tiny", id="fedavg", key="all"), set()
    for step in (1, -1):
        select = TINY["select"] | {"seeds": [1000, 1001][::step]}
        project.write_experiment(seeds=[3, 5][::step], select=select)
        graph = Graph(Study.open())
        digests.add(tuple(graph.digest(rule, w) for rule in ("train", "table", "claims", "about")))
    assert len(digests) == 1


DEFAULTS = {
    "problem": {"instance": 0, "L": 10.0, "heterogeneity": 1.0, "dim": 3, "kind": "quadratic", "mu": 1},
    "setting": {
        "channel": {"down": "identity", "up": {"kind": "rand-k", "scaled": True, "share": 0.25}},
        "participation": {"kind": "full"},
        "driver": {"kind": "synchronous", "model": "cross-device"},
        **dict(reversed(TINY["setting"].items())),
        "rounds": 6,
    },
    "algorithms": {"fedavg": {"set": {"server_lr": 1}}, "scaffold": {"set": {"option": 2}, "seeds": [4, 0]}},
    "cases": {"a": {"setting": {"full_gradients": "exact", "rounds": 5}}, "b": {"setting": {}}},
}


PLAIN = {
    "problem": TINY["problem"],
    "setting": TINY["setting"] | {"rounds": 6, "channel": {"up": {"kind": "rand-k", "share": 0.25}}},
    "algorithms": {"fedavg": None, "scaffold": {"seeds": [0, 4]}},
    "cases": {"a": {"setting": {"rounds": 5}}, "b": {}},
}


def test_the_order_of_keys_and_defaults_change_no_digest(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    found = []
    for content in (PLAIN, DEFAULTS, PLAIN | {"setting": PLAIN["setting"] | {"sampling": "reshuffling"}}):
        project.write_experiment(figures={"loss": TINY["figures"]["loss"] | {"panel": "case"}}, **content)
        graph = Graph(Study.open())
        w = [
            SimpleNamespace(size="smoke", experiment="tiny", id=id, key=f"case={case}", figure="loss")
            for id in ("fedavg", "scaffold")
            for case in "ab"
        ]
        trained = [graph.digest("train", item) for item in w]
        found.append((trained, [graph.digest(rule, w[0]) for rule in ("table", "claims", "figure")]))
    assert found[0] == found[1] and not set(found[0][0]) & set(found[2][0])


def test_a_changed_specification_is_the_reason(project):
    target = "results/smoke/tiny/runs/fedavg/all.parquet"
    project.snakemake(target)
    assert jobs(project.snakemake("-n", target)) == set()
    project.write_experiment(seeds=[0, 1])
    reasons = re.findall(r"reason: (.*)$", project.snakemake("-n", target).stdout, re.M)
    assert len(reasons) == 1 and reasons[0].startswith("Params have changed since last execution"), reasons


@pytest.mark.slow
def test_a_plan_writes_nothing_and_a_run_two_files_for_a_cell(project):
    """A run file and a log; and Snakemake's record of each, with what lies in a folder once for many cells."""
    target = "results/smoke/tiny/table.parquet"
    before = files(project)
    project.snakemake("-n", target)
    assert files(project) == before
    counts = []
    for rounds in ([5, 6], [5, 6, 7, 8, 9, 10, 11]):
        project.write_experiment(grid={"rounds": rounds}, figures={}, claims={})
        project.snakemake(target)
        counts.append(len(files(project)))
    cells = 5 * len(TINY["algorithms"])
    assert counts[1] - counts[0] <= 3 * cells


def files(project):
    """All files and folders of a project, with what Snakemake remembers of results, by their paths."""
    paths = [path.relative_to(project.folder) for path in project.folder.rglob("*")]
    return {path for path in paths if path.parts[0] not in (".cache", ".snakemake") or "metadata" in path.parts[:-1]}
