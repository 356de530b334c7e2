"""Studies share data sets through a folder of data, partitions and optima through Snakemake's cache."""

from types import SimpleNamespace

import pytest

from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.workflow.project import copied, same_results
from tests.workflow.studies import jobs

PROBLEM = {"kind": "logistic", "data": "breast_cancer", "l2": 0.01, "partition": {"kind": "dirichlet", "alpha": 0.3}}
CHANGE = {
    "problem": PROBLEM,
    "setting": {"clients": 3, "rounds": 3, "batch": 4, "local_steps": 2},
    "optimum": True,
    "select": {"metric": "suboptimality", "statistic": "best", "goal": "min", "seeds": [1000]},
    "algorithms": {"fedavg": None},
    "claims": {},
}
TARGETS = ("results/smoke/tiny/table.csv", "--cache")  # an option that takes the words after it


def links(project, folder):
    """The files of the cache to which the partitions, or the optima, of a project lead."""
    return [path.resolve(strict=True) for path in sorted((project.folder / "results" / folder).glob("*.npz"))]


def plan(project):
    """The rules that would run."""
    return jobs(project.snakemake("-n", *TARGETS))


@pytest.mark.slow
def test_two_studies_share_what_the_same_code_has_made(tmp_path, monkeypatch):
    studies = [copied(tmp_path / name) for name in ("first", "second")]
    for study in studies:
        study.write_experiment(**CHANGE)
        with (study.folder / "config/config.yaml").open("a") as file:
            file.write(f"data: {tmp_path / 'data'}\n")
    first, second = studies
    dry = first.snakemake("-n", TARGETS[0])
    assert "rule optimum" in dry.stdout and "cach" not in dry.stdout + dry.stderr, (
        "nothing is said where there is no cache"
    )
    cache = tmp_path / "shared"
    cache.mkdir()
    monkeypatch.setenv("SNAKEMAKE_OUTPUT_CACHE", str(cache))
    first.snakemake(*TARGETS)
    meta = tmp_path / "data/prepared/breast_cancer/meta.json"
    time = meta.stat().st_mtime_ns
    assert plan(second) == {"partition", "optimum", "train", "table"}  # the data are there
    second.snakemake(*TARGETS)
    assert meta.stat().st_mtime_ns == time
    for folder in ("partitions", "optima"):
        (file,) = links(first, folder)
        assert links(second, folder) == [file] and file.parent == cache
    same_results(first, second)
    assert plan(second) == set()

    # An edit of the code behind optima makes another optimum, from the same partition.
    second.edit("src/fedatlas/workflow/jobs/optimum.py", "split = ", "_, split = 0, ")
    second.snakemake(*TARGETS)
    assert links(second, "partitions") == links(first, "partitions")
    assert links(second, "optima")[0].parent == cache and links(second, "optima") != links(first, "optima")
    assert plan(first) == set()


def test_the_folder_of_the_data_is_no_reason_to_make_a_partition_again(monkeypatch):
    graph = Graph(Study.from_config({}))
    monkeypatch.setattr(graph.origins, "find", lambda folder, key: {"data": "cifar10", "clients": 2})
    w = SimpleNamespace(key="any")
    elsewhere = Graph(Study.from_config({"data": "/elsewhere"}))
    elsewhere.origins = graph.origins
    assert graph.digest("partition", w) == elsewhere.digest("partition", w)
    assert graph.specification("partition", w) != elsewhere.specification("partition", w)
