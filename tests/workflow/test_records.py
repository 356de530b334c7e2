"""The record in the workflow: what is verified is restored, all else is computed."""

import shutil

import pytest

from tests.workflow.project import copied
from tests.workflow.test_interim_analyses import noisy

CLAIMS = "results/smoke/tiny/claims.csv"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A project whose experiment has a record."""
    project = copied(tmp_path_factory.mktemp("record"))
    project.write_experiment(problem={"kind": "quadratic", "dim": 3, "similarity": 5.0})
    project.snakemake(CLAIMS)
    assert "2 of 2 cells verified" in project.fedatlas("record", "add", "tiny", "--size", "smoke")
    return project


@pytest.fixture
def recorded(original, tmp_path):
    """A copy of the project with the record, without results."""
    shutil.copytree(original.folder, tmp_path / "copy", symlinks=True)
    for name in ("results", ".snakemake"):
        shutil.rmtree(tmp_path / "copy" / name)
    return type(original)(tmp_path / "copy")


def computed(project):
    """Algorithms whose run files were computed, and not restored."""
    logs = (project.folder / "results/logs/train").rglob("*.log")
    return {path.parts[-2] for path in logs if "restored from" not in path.read_text()}


def test_verified_cells_are_restored_with_all_verdicts_and_then_nothing_is_left_to_do(original, recorded):
    output = recorded.snakemake("results/smoke/tiny/report.html", "--config", "size=smoke")
    assert "2 of 2 cells from the record; `--config" in output.stdout + output.stderr
    assert "2 of 2 cells from the record" in (recorded.folder / "results/smoke/tiny/report.html").read_text()
    assert computed(recorded) == set()
    assert (recorded.folder / CLAIMS).read_text() == (original.folder / CLAIMS).read_text()
    output = recorded.snakemake("-n", CLAIMS)
    assert "Nothing to be done" in output.stdout + output.stderr


def test_an_edit_computes_the_cells_of_an_algorithm_and_a_planted_mistake_is_found(recorded):
    recorded.edit("src/fedatlas/federation/algorithms/scaffold.py", "- i.c + s.c", "+ i.c - s.c")
    output = recorded.fedatlas("record", "verify", status=1)
    assert "scaffold/all: differs" in output and "in the record and" in output and "fedavg" not in output
    assert ",differs," in (recorded.folder / "record/verified.csv").read_text()
    recorded.snakemake(CLAIMS)
    assert computed(recorded) == {"scaffold"}


@pytest.mark.slow
def test_cells_that_nobody_has_verified_are_taken_on_request_and_marked(recorded):
    recorded.edit("src/fedatlas/federation/algorithms/scaffold.py", "mean.y", "(1.0 * mean.y)")
    recorded.snakemake("tiny", "--config", "size=smoke", "record=any")
    assert computed(recorded) == set()
    assert (
        "1 of 2 cells come from the record, and nobody"
        in (recorded.folder / "results/smoke/tiny/report.html").read_text()
    )


@pytest.mark.slow
def test_cells_at_all_looks_are_restored(project):
    project.copy_code()
    project.write_experiment(**noisy())
    project.snakemake(CLAIMS)
    verdicts = (project.folder / CLAIMS).read_text()
    project.fedatlas("record", "add", "tiny", "--size", "smoke")
    for name in ("results", ".snakemake"):
        shutil.rmtree(project.folder / name)
    project.snakemake(CLAIMS)
    assert computed(project) == set()
    assert (project.folder / CLAIMS).read_text() == verdicts
    assert (project.folder / "results/smoke/tiny/runs-32/close/all.parquet").exists()


def test_where_nothing_was_computed_nothing_is_added(recorded):
    assert "has no run file of today's experiment" in recorded.fedatlas(
        "record", "add", "tiny", "--size", "smoke", status=2
    )
