"""The configuration of a study, and where its files lie."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.workflow.configuration import complete
from fedatlas.workflow.study import Folders, Study

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


KEYS = st.sampled_from(
    ["size", "tour", "experiments", "results", "data", "gallery", "mlflow_uri", "experiments_folder"]
)


def test_keys_that_are_not_given_have_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Study.open().config == {
        "title": "Federated optimisation",
        "size": "laptop",
        "experiments": "all",
        "experiments_folder": "config/experiments",
        "tour": [],
        "gallery": {},
        "results": "results",
        "data": "data",
        "data_mirrors": [],
        "record": "use",
        "gpu": 0,
        "mlflow_uri": "sqlite:///results/mlflow.db",
    }
    assert Study({"results": "out/"}).config["mlflow_uri"] == "sqlite:///out/mlflow.db"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"tuor": []}, "unknown key 'tuor'; did you mean 'tour'"),
        ({"size": "big"}, "size: 'big' is not one of ['smoke', 'laptop', 'paper']"),
        ({"tour": ["fedac_fig1", 3]}, "tour.1: 3 is not of type 'string'"),
        ({"tour": ["fedac_fgi1"]}, "tour: there is no experiment 'fedac_fgi1'; did you mean 'fedac_fig1'"),
        ({"experiments": ["fedac_fgi1"]}, "experiments: there is no experiment 'fedac_fgi1'"),
        ({"results": "a{b}"}, "results: 'a{b}' does not match"),
        ({"experiments_folder": ""}, "experiments_folder: "),
        ([1], "holds [1]; it must hold a mapping of keys to values"),
    ],
)
def test_a_wrong_configuration(content, message):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        Study(content)
    assert "\n" not in str(error.value) and str(error.value).startswith("config/config.yaml")


@given(st.dictionaries(KEYS, JSON, max_size=4) | JSON)
def test_whatever_it_holds_it_is_taken_or_refused(content):
    before = json.dumps(content)
    try:
        assert complete(content).keys() >= {"size", "results", "data"}
    except UserError as error:
        assert str(error).startswith("config/config.yaml")
    assert json.dumps(content) == before


def test_places_in_another_folder():
    folders = Folders("out", "data")
    assert folders.result("results/optima/a.npz") == "out/optima/a.npz"
    needed = [{"file": "results/partitions/a.npz", "title": "results of a run", "seed": 1, "data": None}]
    assert folders.resolve(needed) == [needed[0] | {"file": "out/partitions/a.npz"}]
