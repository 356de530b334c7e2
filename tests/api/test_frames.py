"""Results as DataFrames."""

import shutil

import pytest

import fedatlas
from fedatlas import UserError
from fedatlas.results.claims.verdicts import COLUMNS


@pytest.mark.parametrize("path", ["results", "results/smoke", "results/smoke/tiny", "results/smoke/tiny/"])
def test_results_of_a_folder(inside, path):
    result = fedatlas.load_results(path)
    for frame in (result.table, result.curves, result.trials, result.claims):
        assert len(frame) and list(frame.columns[:2]) == ["experiment", "size"]
        assert set(zip(frame["experiment"], frame["size"], strict=True)) in (
            {("tiny", "smoke")},
            {("made_up", "smoke")},
        )
    assert {"algorithm", "local_steps", "clients", "lr", "chosen", "score", "best_loss", "rounds"} <= {*result.table}
    assert {"algorithm", "local_steps", "clients", "seed", "round", "loss", "gradients", "status"} <= {*result.curves}
    assert {"algorithm", "local_steps", "clients", "lr", "seed", "score", "diverged"} <= {*result.trials}
    assert list(result.claims) == list(COLUMNS)
    assert result.claims["value"].dtype.kind == "f" and result.claims["verdict"].iloc[0]
    assert result.curves.attrs["algorithms"]["fedac"] == {"algorithm": "fedac-1", "label": "fedac"}


def test_an_experiment_that_was_not_finished(project, tmp_path):
    folder = tmp_path / "results" / "smoke" / "tiny"
    shutil.copytree(project / "results/smoke/tiny", folder)
    (folder / "claims.csv").unlink()
    (folder / "about.json").unlink()
    result = fedatlas.load_results(tmp_path / "results")
    assert len(result.table) == 12 and result.claims.empty


def test_broken_files_are_named(project, tmp_path):
    folder = tmp_path / "smoke" / "tiny"
    shutil.copytree(project / "results/smoke/tiny", folder)
    (folder / "claims.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match=r"claims\.csv holds no claims of fedatlas"):
        fedatlas.load_results(tmp_path)
    (folder / "curves.parquet").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"curves\.parquet is not a result file"):
        fedatlas.load_results(folder)
