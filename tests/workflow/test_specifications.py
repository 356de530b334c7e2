"""Specifications reach jobs through standard input, whatever the names of folders and however large they are."""

import json
import re
from types import SimpleNamespace

import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.workflow import configuration, specifications
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.workflow.edited import CONVEX
from tests.workflow.project import TINY
from tests.workflow.studies import jobs

ARGUMENT_LIMIT = 131_072  # bytes of an argument of a process on Linux


@pytest.mark.slow
def test_no_name_is_parsed_by_a_shell(project):
    results = """of "mine" and 'yours' for $HOME; `id` & co, 50 % \\n*~"""
    experiment = CONVEX | {"grid": {}, "figures": {"curves": CONVEX["figures"]["curves"] | {"panel": None}}}
    path = project.folder / "config/experiments/tiny.yaml"
    path.write_text(yaml.safe_dump(experiment, sort_keys=False))
    (project.folder / "config/config.yaml").write_text(
        yaml.safe_dump({"tour": ["tiny"], "size": "smoke", "results": results})
    )
    project.snakemake()
    folder = project.folder / results
    assert (folder / "report.html").exists() and (folder / "mlflow.json").exists()
    assert len(list(folder.glob("partitions/*.npz"))) == len(list(folder.glob("optima/*.npz"))) == 1
    assert jobs(project.snakemake("-n")) == set()


@pytest.mark.parametrize("path", ["a\nb", " a", "a ", "a{b}", ""])
def test_paths_that_snakemake_refuses_are_refused(path):
    for key in ("results", "data"):
        with pytest.raises(UserError, match=f"config/config.yaml: {key}: "):
            configuration.complete({key: path})


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
    "cases": {"a": {"setting": {"full_gradients": "exact", "rounds": 5}}, "b": {"tuning_seeds": [1001, 1000]}},
}
PLAIN = {
    "problem": TINY["problem"],
    "setting": TINY["setting"] | {"rounds": 6, "channel": {"up": {"kind": "rand-k", "share": 0.25}}},
    "algorithms": {"fedavg": None, "scaffold": {"seeds": [0, 4]}},
    "cases": {"a": {"setting": {"rounds": 5}}, "b": {"tuning_seeds": [1000, 1001]}},
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


def test_inputs_are_named_where_a_storage_puts_them():
    place = "results/partitions/a b.npz"
    found = {"partition": place, "note": 'results/a.npz is "here"', "more": [{"of": place}, 1, None]}
    copy = ".snakemake/storage/fs/x/results/partitions/a b.npz"
    assert specifications.find_inputs(found, [copy]) == found | {"partition": copy, "more": [{"of": copy}, 1, None]}
    for files in ([], ["results/partitions/a b.npz"], ["other/a b.npz"]):
        assert specifications.find_inputs(found, files) == found


def test_both_snakefiles_plan_the_same_jobs(project):
    """The root's, which `snakemake` finds, and the one that the workflow catalogue and studies name."""
    project.write_experiment(figures=TINY["figures"])
    plans = []
    for words in ([], ["--snakefile", "workflow/Snakefile"]):
        plan = project.snakemake("-n", "--printshellcmds", *words, "tour", "tiny").stdout
        keys = ("rule", "localrule", "input", "output", "log", "Shell command", "resources")
        plans.append(sorted(re.findall(rf"^ *((?:{'|'.join(keys)})(?: \w+)?:.*)$", plan, re.M)))
    assert plans[0] == plans[1] and len(plans[0]) > 20
    assert (project.folder / "Snakefile").exists()
