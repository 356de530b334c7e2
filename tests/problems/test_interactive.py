"""A person's call: custom data and bundled data need no fetch, and the clients of the data are the partition."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fedatlas
from fedatlas.cli.main import main
from fedatlas.data.sources import _records
from fedatlas.errors import UserError

SETTING = {"rounds": 2, "lr": 0.1}
BUNDLED = {"kind": "logistic", "data": "breast_cancer", "l2": 0.1}
OWN = {"file": "mine.csv", "label": "y", "client": "hospital"}
NATURAL = {"kind": "logistic", "data": OWN, "partition": "natural", "l2": 0.1}


@pytest.fixture(autouse=True)
def a_folder_and_a_cache(tmp_path, monkeypatch):
    """The working directory is empty; nothing is known of data."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("fedatlas.federation.problems.interactive.cache_folder", lambda: tmp_path / "cache")
    for name in ("FEDATLAS_DATA", "FEDATLAS_DATA_MIRRORS"):
        monkeypatch.delenv(name, raising=False)
    _records.clear()


def write(clients=("north", "south", "east")):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame.assign(y=np.arange(60) % 2, hospital=rng.choice(clients, 60)).to_csv("mine.csv", index=False)


def test_bundled_data_are_prepared_in_the_cache_where_there_is_no_data_folder(tmp_path):
    frame = fedatlas.train("fedavg", BUNDLED, clients=2, **SETTING)
    assert {"loss", "suboptimality", "test_accuracy"} <= {*frame.columns}
    assert (tmp_path / "cache/prepared/breast_cancer/meta.json").is_file() and not Path("data").exists()


def test_they_are_prepared_where_data_lie(tmp_path, monkeypatch):
    Path("data").mkdir()
    fedatlas.train("fedavg", BUNDLED, clients=2, **SETTING)
    assert Path("data/prepared/breast_cancer/meta.json").is_file()
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path / "asked"))
    fedatlas.train("fedavg", BUNDLED, clients=2, **SETTING)
    assert (tmp_path / "asked/prepared/breast_cancer/meta.json").is_file() and not (tmp_path / "cache").exists()


def test_other_data_ask_to_be_fetched():
    with pytest.raises(UserError, match="run 'fedatlas data fetch a9a' first"):
        fedatlas.train("fedavg", BUNDLED | {"data": "a9a"}, clients=2, **SETTING)
    assert not Path("data").exists()


@pytest.mark.parametrize("data", ["digits", "mnist"])  # prepared without a download, and fetched first
@pytest.mark.parametrize(
    "options, message",
    [
        ({"kind": "logistic"}, "logistic regression needs two classes, the data have 10: use softmax"),
        ({"kind": "softmax", "partition": "dirichle"}, "unknown partition 'dirichle'; did you mean 'dirichlet'?"),
        ({"kind": "softmax", "partition": {"kind": "dirichlet", "alpha": -1}}, "partition dirichlet: alpha is -1"),
    ],
)
def test_no_data_are_prepared_for_a_wrong_problem(tmp_path, options, message, data):
    with pytest.raises(UserError, match=re.escape(message)):
        fedatlas.train("fedavg", options | {"data": data}, clients=2, **SETTING)
    assert not Path("data").exists() and not (tmp_path / "cache").exists()


@pytest.mark.parametrize("data", ["breast_cancer", {"file": "mine.csv", "label": "y", "drop": "hospital"}])
def test_data_without_clients_have_no_natural_partition(data):
    write()
    for clients in ({}, {"clients": 2}):
        with pytest.raises(UserError, match="partition natural needs data that name the client of each row"):
            fedatlas.train("fedavg", NATURAL | {"data": data}, **clients, **SETTING)


def test_two_own_files_must_have_the_same_classes():
    write()
    Path("other.csv").write_text("a,b,c,y\n1,2,3,no\n1,2,4,yes\n")
    test = {"file": "other.csv", "label": "y", "test_share": 0}
    with pytest.raises(UserError, match="the classes of other are not those of mine: name the second file"):
        fedatlas.train("fedavg", NATURAL | {"test": test}, **SETTING)
    Path("other.csv").write_text("a,b,c,y\n1,2,3,0\n1,2,4,1\n")
    frame = fedatlas.train("fedavg", NATURAL | {"test": test}, **SETTING)
    assert set(frame["test_accuracy"]) <= {0, 0.5, 1}


@pytest.mark.parametrize(
    "data",
    [
        "mine.csv,label=y,client=hospital",
        "file=mine.csv,label=y,client=hospital",
        "{file: mine.csv, label: y, client: hospital, drop: []}",
    ],
)
def test_the_command_takes_own_data(data, capsys):
    write()
    arguments = ["train", "--algorithm", "fedavg", "--set", "lr=0.1", "--rounds", "2", "--l2", "0.1"]
    assert main([*arguments, "--data", data, "--partition", "natural"]) == 0
    assert "test_accuracy" in capsys.readouterr().out
    assert main([*arguments, "--data", "breast_cancer"]) == 0
    assert main([*arguments, "--data", data, "--partition", "natural", "--clients", "2"]) == 2
    assert "the data have 3 clients" in capsys.readouterr().err


@pytest.mark.parametrize(
    "data, complaint",
    [
        ("mine.csv", "data mine.csv needs a value for 'label'"),
        ("mine.csv,label", "--data: 'label' is not of the form NAME=VALUE"),
        ("no.csv", "unknown data set 'no.csv': custom data are a mapping"),
        ("{file: [", "--data, line 1: not valid YAML"),
        ("mine.csv,label=z", "mine.csv: label: there is no column 'z'"),
    ],
)
def test_the_command_says_what_is_wrong_with_own_data(data, complaint, capsys):
    write()
    assert main(["train", "--algorithm", "fedavg", "--set", "lr=0.1", "--data", data]) == 2
    assert complaint in capsys.readouterr().err
