"""Studies share data sets through a folder of data."""

import pytest

from tests.workflow.project import copied, same_results
from tests.workflow.studies import jobs

CHANGE = {
    "problem": {"kind": "logistic", "data": "breast_cancer", "l2": 0.01},
    "setting": {"clients": 3, "rounds": 3, "batch": 4, "local_steps": 2},
    "algorithms": {"fedavg": None},
    "claims": {},
}
TARGET = "results/smoke/tiny/table.csv"


@pytest.mark.slow
def test_two_studies_share_what_the_same_code_has_prepared(tmp_path):
    first, second = (copied(tmp_path / name) for name in ("first", "second"))
    for study in (first, second):
        study.write_experiment(**CHANGE)
        with (study.folder / "config/config.yaml").open("a") as file:
            file.write(f"data: {tmp_path / 'data'}\n")
    first.snakemake(TARGET)
    meta = tmp_path / "data/prepared/breast_cancer/meta.json"
    time = meta.stat().st_mtime_ns
    assert jobs(second.snakemake("-n", TARGET)) == {"train", "table"}  # the data are there
    second.snakemake(TARGET)
    assert meta.stat().st_mtime_ns == time
    same_results(first, second)
    assert jobs(second.snakemake("-n", TARGET)) == set()
