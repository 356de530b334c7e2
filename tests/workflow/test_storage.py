"""Results that lie in a storage of Snakemake's: jobs get copies of their inputs, and nothing is shared but the data."""

import shutil

import pytest

from fedatlas.experiments import result_files
from tests.workflow.edited import CONVEX, TRACE
from tests.workflow.studies import jobs

pytest.importorskip("snakemake_storage_plugin_fs")
FIGURES = {name: CONVEX["figures"][name] for name in ("timed", "split")}  # which read run files and partitions


@pytest.mark.skipif(shutil.which("rsync") is None, reason="the provider fs copies with rsync")
def test_an_experiment_is_made_in_a_storage(project, tmp_path):
    store = tmp_path / "store"
    words = ["--default-storage-provider", "fs", "--default-storage-prefix", str(store), "--shared-fs-usage", "none"]
    (project.folder / "trace.csv").write_text(TRACE)
    change = {"figures": FIGURES, "grid": {"participation": CONVEX["grid"]["participation"][1:]}}
    project.write_experiment(**CONVEX | change | {"algorithms": {"fedavg": None}})
    project.snakemake("tiny", *words)
    folder = store / "results/smoke/tiny"
    assert (folder / "mlflow.json").exists() and "timed" in (folder / "report.html").read_text()
    files = sorted(folder.glob("runs/*/*.parquet"))
    assert len(files) == 1 and all(len(result_files.read(path)[0]) for path in files)
    assert len(list(store.glob("results/*/*.npz"))) == 2
    assert not (project.folder / "results/smoke").exists()
    assert jobs(project.snakemake("tiny", "-n", *words)) == set()
    project.write_experiment(**CONVEX | change | {"algorithms": {"fedavg": None}, "seeds": [5]})
    assert "train" in jobs(project.snakemake("tiny", *words))
    assert set(result_files.read(files[0])[0]["seed"]) == {5, 1000}  # of scoring and of tuning
