"""Specifications reach jobs through files, whatever the names of folders and however large they are."""

import re

import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.workflow import configuration
from tests.workflow.edited import CONVEX
from tests.workflow.project import TINY
from tests.workflow.studies import jobs

ARGUMENT_LIMIT = 131_072  # bytes of an argument of a process on Linux


@pytest.mark.parametrize(
    "results",
    [
        pytest.param("my results", marks=pytest.mark.slow),  # the other name has spaces too
        """of "mine" and 'yours' for $HOME; `id` & co, 50 % \\n*~""",
    ],
)
def test_no_name_is_parsed_by_a_shell(project, results):
    experiment = CONVEX | {"grid": {}, "figures": {"curves": CONVEX["figures"]["curves"] | {"panel": None}}}
    path = project.folder / "config/experiments/tiny.yaml"
    path.write_text(yaml.safe_dump(experiment, sort_keys=False))
    (project.folder / "config/config.yaml").write_text(
        yaml.safe_dump({"tour": ["tiny"], "size": "smoke", "results": results})
    )
    project.snakemake()
    folder = project.folder / results
    assert (folder / "report.html").exists() and (folder / "smoke/tiny/mlflow.json").exists()
    assert len(list(folder.glob("partitions/*.npz"))) == len(list(folder.glob("optima/*.npz"))) == 1
    assert jobs(project.snakemake("-n")) == set()


@pytest.mark.parametrize("path", ["a\nb", " a", "a ", "a{b}", ""])
def test_paths_that_snakemake_refuses_are_refused(path):
    for key in ("results", "data"):
        with pytest.raises(UserError, match=f"config/config.yaml: {key}: "):
            configuration.complete({key: path})


def test_a_specification_may_be_larger_than_an_argument(project):
    notes = ["word " * (ARGUMENT_LIMIT // 5)]
    project.write_experiment(notes=notes)
    plan = project.snakemake("-n", "tiny", "--printshellcmds").stdout
    commands = re.findall(r"^ +shell:\n +(.*)$", plan, re.M) + re.findall(r"^Shell command: (.*)$", plan, re.M)
    assert commands and max(map(len, commands)) < 2000
    project.snakemake("results/smoke/tiny/about.json")
    record = project.folder / "results/smoke/tiny/about.json"
    assert record.stat().st_size > ARGUMENT_LIMIT
    assert record.read_bytes() == (project.folder / "results/specs/smoke/tiny/about/spec.json").read_bytes()


def test_a_changed_specification_is_the_reason(project):
    target = "results/smoke/tiny/runs/fedavg/all.parquet"
    project.snakemake(target)
    (project.folder / "results/specs/smoke/tiny/runs/fedavg/all/spec.json").touch()
    assert jobs(project.snakemake("-n", target)) == set(), "its time does not count"
    project.write_experiment(seeds=[0, 1])
    reasons = re.findall(r"reason: (.*)$", project.snakemake("-n", target).stdout, re.M)
    assert len(reasons) == 1 and reasons[0].startswith("Params have changed since last execution"), reasons


def test_both_snakefiles_plan_the_same_jobs(project):
    """The root's, which `snakemake` finds, and the one that the workflow catalogue and studies name."""
    project.write_experiment(figures=TINY["figures"])
    plans = []
    for words in ([], ["--snakefile", "workflow/Snakefile"]):
        for target in ([], ["tiny"], ["results/smoke/tiny/claims.csv"]):
            plan = project.snakemake("-n", "--printshellcmds", *words, *target).stdout
            keys = ("rule", "localrule", "input", "output", "log", "Shell command", "resources")
            pattern = rf"^ *((?:{'|'.join(keys)})(?: \w+)?:.*)$"
            plans.append(sorted(re.findall(pattern, plan, re.M)))
    assert plans[:3] == plans[3:] and all(len(plan) > 20 for plan in plans)
    assert (project.folder / "Snakefile").exists()
