"""The record in the workflow: what is signed is restored, all else is computed."""

import json
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from fedatlas.workflow import record_results
from tests.workflow.project import copied
from tests.workflow.test_looks import noisy

CLAIMS = "results/smoke/tiny/claims.csv"
CHECKS = {  # of all evaluations, of which the record keeps some
    "throughout": {"kind": "throughout", "algorithms": ["fedavg", "scaffold"], "metric": "loss", "at_most": 0.5},
    "closer": {"kind": "closer", "algorithm": "scaffold", "than": ["fedavg"], "metric": "gradient_norm", "after": 333},
    "first": {"kind": "first_round", "algorithm": "scaffold", "metric": "gradient_norm", "target": 1e-3},
}


def fedatlas(project, *words, status=0):
    """What a command printed that ends with a status."""
    process = subprocess.run(
        [sys.executable, "-m", "fedatlas", *words],
        cwd=project.folder,
        env=project.environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert process.returncode == status, process.stdout + process.stderr
    return process.stdout + process.stderr


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A project whose experiment has a record, and its verdicts."""
    project = copied(tmp_path_factory.mktemp("record"))
    project.copy_code()
    # Hessians differ, so that the correction of SCAFFOLD moves the mean
    project.write_experiment(
        problem={"kind": "quadratic", "dim": 3, "similarity": 5.0},
        tune={"lr": [0.01]},
        setting={"clients": 3, "rounds": 600, "batch": None, "local_steps": 2, "eval_rounds": 1},
        claims={name: {"text": name, "source": "Nowhere", "check": check} for name, check in CHECKS.items()},
    )
    project.snakemake(CLAIMS)
    assert "written and signed" in fedatlas(project, "record", "add", "tiny", "--size", "smoke")
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


def test_signed_cells_are_restored_with_all_verdicts_and_then_nothing_is_left_to_do(original, recorded):
    output = recorded.snakemake("tiny", "--config", "size=smoke")
    assert "2 of 2 cells from the record (verified on 1 machine); `--config" in output.stdout + output.stderr
    assert "2 of 2 cells from the record" in (recorded.folder / "results/smoke/tiny/report.html").read_text()
    assert computed(recorded) == set()
    assert (recorded.folder / CLAIMS).read_text() == (original.folder / CLAIMS).read_text()
    output = recorded.snakemake("-n", CLAIMS)
    assert "Nothing to be done" in output.stdout + output.stderr


def test_the_record_can_be_ignored(recorded):
    recorded.snakemake(CLAIMS, "--config", "record=ignore")
    assert computed(recorded) == {"fedavg", "scaffold"}


def test_an_edit_of_an_algorithm_computes_its_cells_alone(recorded):
    recorded.edit("src/fedatlas/federation/algorithms/scaffold.py", "mean.y", "(1.0 * mean.y)")
    recorded.snakemake(CLAIMS)
    assert computed(recorded) == {"scaffold"}


def test_a_planted_mistake_is_found_and_named_and_not_signed(recorded):
    recorded.edit("src/fedatlas/federation/algorithms/scaffold.py", "- i.c + s.c", "+ i.c - s.c")
    before = json.loads((recorded.folder / "record/signatures.json").read_text())
    output = fedatlas(recorded, "record", "verify", status=1)
    assert "scaffold" in output and "nothing is signed" in output and "equal" not in output
    assert json.loads((recorded.folder / "record/signatures.json").read_text()) == before


def test_code_with_equal_numbers_is_signed_anew(recorded):
    recorded.edit("src/fedatlas/federation/algorithms/scaffold.py", "- i.c + s.c", "- 1.0 * i.c + s.c")
    assert "signed" in fedatlas(recorded, "record", "verify")
    recorded.snakemake(CLAIMS)
    assert computed(recorded) == set()
    assert "every cell of the record is signed" in fedatlas(recorded, "record", "verify")


def test_a_new_algorithm_computes_its_own_cells(recorded):
    entry = "  scaffold: null\n"
    recorded.edit("config/experiments/tiny.yaml", entry, entry + "  fedprox: {set: {nu: 0.1}}\n")
    recorded.snakemake(CLAIMS)
    assert computed(recorded) == {"fedprox"}


def test_cells_that_nobody_has_signed_are_taken_on_request_and_marked(recorded):
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
    fedatlas(project, "record", "add", "tiny", "--size", "smoke")
    for name in ("results", ".snakemake"):
        shutil.rmtree(project.folder / name)
    project.snakemake(CLAIMS)
    assert computed(project) == set()
    assert (project.folder / CLAIMS).read_text() == verdicts
    assert (project.folder / "results/smoke/tiny/runs-32/close/all.parquet").exists()


def test_results_that_are_not_whole_are_refused(recorded):
    assert "is not whole" in fedatlas(recorded, "record", "add", "tiny", "--size", "smoke", status=2)


def test_results_that_cannot_be_computed_again_here_are_added_unsigned(recorded):
    shutil.rmtree(recorded.folder / "record")
    recorded.snakemake(CLAIMS)
    assert "without a new signature" in fedatlas(recorded, "record", "add", "tiny", "--size", "smoke", "--cells", "0")
    assert "0 of 2 cells signed" in fedatlas(recorded, "record", "list")


@pytest.mark.parametrize(("commit", "code", "expected"), [("b", 1, ""), ("b-dirty", 1, "a-dirty"), ("b", 2, "a-dirty")])
def test_code_with_changes_counts_where_the_commit_of_today_has_the_same(commit, code, expected, monkeypatch):
    monkeypatch.setattr(record_results, "environment", lambda: {"commit": commit})
    monkeypatch.setattr(record_results, "fingerprint", lambda _: code)
    monkeypatch.setattr(record_results, "cell_modules", lambda _: [])
    meta = SimpleNamespace(environments=[{"commit": "a-dirty"}], fingerprint=1)
    assert record_results._uncommitted(SimpleNamespace(spec=None), meta) == expected
