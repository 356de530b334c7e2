"""A table of claims is the claims that it stands for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_values_keep_their_types_and_keys_of_a_claim_are_laid_over_it():
    rows = {"iid": {"paper": 0.85, "at": {"alpha": None}}, "dir": {"paper": 0.8, "at": {}, "check": {"more": "above"}}}
    check = {"kind": "reaches", "paper": "{paper}", "where": "{at}"}
    claims = expand_tables({"reaches-{key}": {"each": rows, "text": "It reaches {paper}.", "check": check}})
    assert claims["reaches-iid"]["check"] == {"kind": "reaches", "paper": 0.85, "where": {"alpha": None}}
    assert claims["reaches-dir"]["check"] == {"kind": "reaches", "paper": 0.8, "where": {}, "more": "above"}
    assert claims["reaches-dir"]["text"] == "It reaches 0.8."


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


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.integers() | st.text(max_size=5), min_size=1))
def test_rows_are_kept_in_their_order_with_their_values(table):
    claims = expand_tables({"c-{key}": {"each": table, "check": {"kind": "{key}", "paper": "{value}"}}})
    assert [(claim["check"]["kind"], claim["check"]["paper"]) for claim in claims.values()] == list(table.items())
    assert list(claims) == [f"c-{key}" for key in table]


@given(st.none() | st.integers() | st.lists(st.integers()) | st.dictionaries(st.text(), st.none() | st.integers()))
def test_what_is_no_table_stays_as_it_is(claims):
    assert expand_tables(claims) == claims
