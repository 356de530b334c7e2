"""A table of claims is the claims that it stands for."""

import re

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_file import expand_tables

CHECK = {"kind": "better", "algorithm": "fedspeed", "than": ["{key}"]}
AHEAD = {"text": "FedSpeed is ahead of {value}.", "source": "Table 1", "check": CHECK}


def test_a_row_is_a_claim():
    claims = expand_tables({"ahead-of-{key}": {"each": {"fedavg": "FedAvg", "feddyn": "FedDyn"}, **AHEAD}})
    assert list(claims) == ["ahead-of-fedavg", "ahead-of-feddyn"]
    assert claims["ahead-of-feddyn"] == {
        "text": "FedSpeed is ahead of FedDyn.",
        "source": "Table 1",
        "check": {"kind": "better", "algorithm": "fedspeed", "than": ["feddyn"]},
    }


def test_keys_alone_are_a_list():
    assert list(expand_tables({"late-{key}": {"each": ["a", 5], "text": "{key}"}})) == ["late-a", "late-5"]


@pytest.mark.parametrize(
    "claims, sentence",
    [
        ({"x-{key}": {"each": {}}}, "claims.x-{key}: each is {}; it must be a list of keys, or a mapping of keys"),
        ({"x-{key}": {"each": 3}}, "claims.x-{key}: each is 3; it must be a list of keys, or a mapping of keys"),
        ({"x": {"each": ["a", "b"]}}, "two claims have the name 'x'; the name of a table needs {key}"),
        ({"x-a": {}, "x-{key}": {"each": ["a"]}}, "two claims have the name 'x-a'"),
        ({"x-{key}": {"each": {"a": {"pape": 1}}}}, "each.a has 'pape', which no placeholder {pape} uses"),
        ({"x-{key}": {"each": ["a"], "check": {"paper": "{papre}"}}}, "the placeholder {papre} has no value in each"),
    ],
)
def test_a_wrong_table_is_one_sentence(claims, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)):
        expand_tables(claims)
