"""Run files that Snakemake has no record of are compared with what is asked for."""

import shutil

import pytest

from fedatlas.experiments.result_files import read
from fedatlas.workflow.dependencies import SENTENCE
from tests.workflow.project import Project, copied
from tests.workflow.studies import jobs

TARGET = "results/smoke/tiny/table.parquet"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A project whose results Snakemake does not know."""
    project = copied(tmp_path_factory.mktemp("forgotten") / "project")
    project.snakemake(TARGET)
    shutil.rmtree(project.folder / ".snakemake")
    return project


@pytest.fixture
def forgotten(original, tmp_path):
    """A copy of the project."""
    return Project(shutil.copytree(original.folder, tmp_path / "project", symlinks=True))


def test_what_is_current_stays(forgotten):
    assert jobs(forgotten.snakemake("-n", TARGET)) == set()
    done = forgotten.snakemake(TARGET)
    assert SENTENCE not in done.stderr and "Nothing to be done" in done.stderr
    runs = forgotten.folder / "results/smoke/tiny/runs/fedavg/all.parquet"
    forgotten.write_experiment(seeds=[0, 1])
    for option in ("--summary", "--touch"):  # with which no job is to run
        assert SENTENCE not in forgotten.snakemake(option, TARGET).stderr and runs.exists()


@pytest.mark.parametrize("change", ["seeds", "code"])
def test_what_differs_is_made_again_and_its_runs_are_used(forgotten, change):
    """As where a seed was added after a job that outlived its Snakemake had made the file."""
    runs = forgotten.folder / "results/smoke/tiny/runs/fedavg/all.parquet"
    before, fingerprint = runs.read_bytes(), read(runs)[1]["fingerprint"]
    if change == "seeds":
        forgotten.write_experiment(seeds=[0, 1])
    else:
        forgotten.edit("src/fedatlas/federation/algorithms/fedavg.py", "option(1.0, doc=", "option(1.25, doc=")
    dry = forgotten.snakemake("-n", TARGET)
    assert SENTENCE in dry.stderr and runs.read_bytes() == before
    done = forgotten.snakemake(TARGET)
    assert SENTENCE in done.stderr and runs.exists() and not runs.with_suffix(".part").exists()
    assert SENTENCE not in forgotten.snakemake(TARGET).stderr
    rows, meta = read(runs)
    assert set(rows["seed"]) == ({0, 1, 1000} if change == "seeds" else {0, 1000})
    assert (meta["fingerprint"] == fingerprint) == (change == "seeds")
