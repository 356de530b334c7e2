"""Own data in experiment files: names stand for mappings, clients are counted, mistakes come up before any job."""

import re
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fedatlas.data import sources
from fedatlas.data.catalogue import Form, Source
from fedatlas.data.dataset import load_prepared
from fedatlas.data.readers import READERS, Reader
from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.experiments import expansion
from fedatlas.experiments.dependencies import optimum_file, partition_file
from fedatlas.federation.partitions import split
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import optimum, partition
from fedatlas.workflow.resources import problem_mb
from fedatlas.workflow.study import Study
from tests.synthetic import experiment

OWN = {"file": "mine.csv", "label": "y", "client": "hospital"}
OTHER = {"file": "mine.csv", "label": "y", "client": "ward", "drop": "hospital", "name": "wards"}
PROBLEM = {"kind": "logistic", "data": OWN, "partition": "natural", "l2": 0.1}


@pytest.fixture(autouse=True)
def in_a_folder_with_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDATLAS_DATA", "data")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=list("ab")).assign(y=np.arange(80) % 2)
    frame["ward"], frame["hospital"] = rng.integers(0, 5, 80), rng.choice(["north", "south", "east"], 80)
    frame.to_csv("mine.csv", index=False)


def make_experiment(**changes):
    """An experiment on custom data by their clients."""
    return experiment(**{"problem": PROBLEM, "grid": {}, "setting": {"rounds": 2, "local_steps": 2}} | changes)


def test_clients_are_counted_where_the_partition_is_by_them():
    assert {cell.spec.setting["clients"] for cell in expansion.cells(make_experiment())} == {3}
    result = make_experiment(grid={"problem.data": [OWN, OTHER]})
    assert sorted({cell.spec.setting["clients"] for cell in expansion.cells(result)}) == [3, 5]
    assert expansion.cells(make_experiment(setting={"rounds": 2, "clients": 3}))
    for change in ({"setting": {"rounds": 2, "clients": 4}}, {"grid": {"clients": [4]}}):
        with pytest.raises(UserError, match=r"made_up.yaml.*the data have 3 clients, but the setting 4: say"):
            expansion.cells(make_experiment(**change))
    with pytest.raises(UserError, match="clients cannot vary inside a run file"):
        expansion.cells(make_experiment(within={"clients": [3]}))


def test_data_that_name_no_clients_are_refused():
    for data in ("breast_cancer", {"file": "mine.csv", "label": "y", "drop": ["hospital", "ward"]}):
        for setting in ({"rounds": 2}, {"rounds": 2, "clients": 3}):
            with pytest.raises(UserError, match="partition natural needs data that name the client of each row"):
                expansion.cells(make_experiment(problem=PROBLEM | {"data": data}, setting=setting))


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"label": "z"}, "made_up.yaml (size smoke): mine.csv: label: there is no column 'z'"),
        ({"lable": "z"}, "made_up.yaml (size smoke): problem.data: data mine.csv has no option 'lable'"),
        ({"file": "no.csv"}, "made_up.yaml (size smoke): no.csv does not exist"),
        ({"client": None}, "mine.csv: row 1: column 'hospital' holds "),
    ],
)
def test_mistakes_come_up_when_the_experiment_is_read(change, complaint):
    with pytest.raises(UserError, match=re.escape(complaint)):
        expansion.cells(make_experiment(problem=PROBLEM | {"data": OWN | change}))
    if "lable" in change:
        with pytest.raises(UserError, match=re.escape("grid.problem.data: data mine.csv has no option 'lable'")):
            make_experiment(grid={"problem.data": [OWN | change]})


def test_a_problem_says_what_it_needs_of_own_data():
    softmax = {"kind": "logistic", "data": {"file": "mine.csv", "label": "ward", "drop": "hospital"}, "l2": 0.1}
    with pytest.raises(UserError, match="the data have 5: use softmax"):
        expansion.cells(make_experiment(problem=softmax, setting={"rounds": 2, "clients": 3}))
    assert problem_mb(make_experiment().problem) >= 1000


def test_jobs_make_the_partition_and_the_optimum():
    spec = expansion.cells(make_experiment())[0].spec
    prepare(spec.problem["data"])
    path, origin = partition_file(spec)
    partition.make(origin, path)
    path, origin = optimum_file(spec)
    assert origin["partition"] == partition_file(spec)[0]
    optimum.make(origin, path)


@pytest.mark.parametrize(
    "options, clients, depends",
    [
        ({"partition": None}, (2, 3), False),
        ({"partition": "iid"}, (3, 5), True),
        ({"partition": "iid"}, (2, 4), False),  # 64 rows train
        ({"partition": "iid", "weights": "size"}, (2, 3), False),
        ({"partition": {"kind": "classes", "classes": 1}, "weights": "size"}, (2, 4), True),
        ({"partition": "iid", "weights": "size", "validation": 0.25}, (2, 3), True),
    ],
)
def test_problems_share_an_optimum_where_their_objective_does_not_depend_on_the_clients_rows(options, clients, depends):
    problem = make_experiment().problem | options
    files = [
        optimum_file(expansion.cells(make_experiment(problem=problem, setting={"rounds": 2, "clients": m}))[0].spec)
        for m in clients
    ]
    assert all(("partition" in origin) == depends for _, origin in files)
    assert (files[0] == files[1]) == (not depends)


def test_the_workflow_sees_content_and_not_times(tmp_path, monkeypatch):
    """The parameter of the rule that prepares holds the hash of the content; the file is an input without its time."""
    result = make_experiment()
    graph = Graph(Study({}, root=tmp_path))
    w = SimpleNamespace(data=result.problem["data"])
    before = repr(sources.info(w.data))
    assert list(sources.info(w.data).paths) == ["mine.csv"]
    with open("mine.csv") as file:
        text = file.read()
    with open("mine.csv", "w") as file:
        file.write(text)
    assert repr(sources.info(w.data)) == before
    with open("mine.csv", "a") as file:
        file.write(text.splitlines()[-1] + "\n")
    assert repr(sources.info(w.data)) != before
    code = ("data.readers", "data.readers.tables")
    assert {item.split()[0] for item in graph.code("prepare", w).split(", ")} == set(code)
    monkeypatch.chdir(tmp_path)
    assert Graph(graph.study, is_dry=lambda: True).source_code(w) == [] and not (tmp_path / "data/code").exists()
    assert {*graph.source_code(w)} == {f"data/code/{module}.txt" for module in code}


def test_a_data_set_of_the_catalogue_may_name_clients(monkeypatch):
    @dataclass(frozen=True, kw_only=True)
    class Federated(Reader):
        """Rows of two clients."""

        name = "federated"

        def read(self, paths, contents, out):
            out.save("X", np.eye(4))
            out.save("y", np.array([0, 1, 0, 1]))
            out.save("owner", np.array([1, 0, 1, 1]))

    monkeypatch.setitem(READERS.builtin, "federated", (Federated, __name__))
    source = Source(
        "toy", "Toy", "g", "p", "l", "lecun1998gradient", (Form("federated"),),
        classes=2, rows=4, shape=(4,), dtype="float64", clients=2,
    )  # fmt: skip
    monkeypatch.setitem(sources.SOURCES.builtin, "toy", (source, __name__))
    assert "clients" not in repr(source)
    (cell, _) = expansion.cells(make_experiment(problem=PROBLEM | {"data": "toy"}))
    assert cell.spec.setting["clients"] == 2
    prepare("toy")
    data = load_prepared("toy")
    made_split = split("natural", data.y, 2, data.owner)
    assert made_split.client(0).tolist() == [1] and made_split.client(1).tolist() == [0, 2, 3]
    with pytest.raises(UserError, match="the data have 2 clients, and 3 were asked for"):
        split("natural", data.y, 3, data.owner)
