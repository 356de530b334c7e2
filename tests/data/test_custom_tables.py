"""Own data in tables: what is read, and the sentence about each mistake."""

import os
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from fedatlas.data import sources
from fedatlas.data.dataset import load_prepared
from fedatlas.data.store import prepare
from fedatlas.errors import UserError

ROWS = 40


RNG = np.random.default_rng(0)


FRAME = pd.DataFrame(
    {
        "age": RNG.integers(20, 80, ROWS),
        "dose": RNG.normal(size=ROWS),
        "sex": RNG.choice(["m", "f"], ROWS),
        "hospital": RNG.choice(["north", "south", "east"], ROWS),
        "ill": ["yes", "no", "no", "no"] * (ROWS // 4),
    }
)


KEYS = {"label": "ill", "client": "hospital", "categorical": "sex"}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def prepared(**spec):
    """Own data, prepared."""
    folder = prepare(spec)
    return load_prepared(folder.name)


def survey(text, **spec):
    """What a CSV file holds."""
    with open("mine.csv", "w", newline="", encoding="utf-8") as file:
        file.write(text)
    return sources.info({"file": "mine.csv", "label": "y", **spec})


def test_a_table_becomes_features_labels_and_owners():
    FRAME.to_csv("mine.csv", index=False)
    data = prepared(file="mine.csv", test_share=0, **KEYS)
    assert np.array_equal(data.X[:, :2], FRAME[["age", "dose"]])
    assert np.array_equal(data.X[:, 2], FRAME["sex"] == "f") and np.array_equal(data.X[:, 3], FRAME["sex"] == "m")
    assert np.array_equal(data.y, FRAME["ill"] == "yes") and data.X_test is None
    names = data.client_names
    assert names == ["east", "north", "south"] and [names[i] for i in data.owner] == list(FRAME["hospital"])
    note = data.provenance["note"]
    assert "0 is no, 1 is yes" in note


def test_every_format_of_a_table_gives_the_same_arrays():
    FRAME.to_csv("mine.csv", index=False)
    FRAME.to_csv("mine.tsv.gz", index=False, sep="\t")
    FRAME.to_csv("mine.txt", index=False, sep=";")
    FRAME.to_parquet("mine.parquet")
    FRAME.astype({"sex": "category"}).to_parquet("typed.pq")
    plain = prepared(file="mine.csv", **KEYS)
    variants = [
        prepared(file="mine.tsv.gz", **KEYS),
        prepared(file="mine.txt", format="csv", separator=";", **KEYS),
        prepared(file="mine.parquet", **KEYS),
        prepared(file="typed.pq", label="ill", client="hospital"),
    ]
    for other in variants:
        for part in ("X", "y", "X_test", "y_test"):
            assert np.array_equal(getattr(plain, part), getattr(other, part)), other.name
        assert np.array_equal(plain.owner, other.owner)


def test_a_share_of_each_class_tests_and_the_seed_says_which():
    FRAME.to_csv("mine.csv", index=False)
    first, second = (prepared(file="mine.csv", test_share=0.25, seed=seed, **KEYS) for seed in (0, 1))
    assert np.bincount(first.y_test).tolist() == [8, 2] and len(first.y) == 30
    assert not np.array_equal(first.X_test, second.X_test)


def test_a_second_file_tests_and_may_lack_a_class():
    FRAME.to_csv("mine.csv", index=False)
    FRAME[FRAME["ill"] == "no"][::-1].to_csv("other.csv", index=False, columns=list(FRAME)[::-1])
    data = prepared(file="mine.csv", test_file="other.csv", standardise=True, **KEYS)
    assert len(data.y) == ROWS and np.bincount(data.y_test).tolist() == [30]
    assert np.allclose(data.X.mean(axis=0), 0) and np.allclose(data.X.std(axis=0), 1)
    assert np.array_equal(data.X_test[::-1], data.X[data.y == 0])
    same = prepared(file="mine.csv", test_file="mine.csv", **KEYS)
    assert np.array_equal(same.X, same.X_test) and len(same.y) == ROWS
    with pytest.raises(UserError, match="test part of their own: leave test_share out"):
        prepared(file="mine.csv", test_file="other.csv", test_share=0.2, **KEYS)
    FRAME.drop(columns="dose").to_csv("other.csv", index=False)
    with pytest.raises(UserError, match=r"other\.csv: row 1: column 'dose' holds 'nan', which is no finite number"):
        prepared(file="mine.csv", test_file="other.csv", **KEYS)


def test_columns_are_chosen():
    FRAME.to_csv("mine.csv", index=False)
    assert prepared(file="mine.csv", label="ill", features=["dose"]).X.shape[1] == 1
    assert prepared(file="mine.csv", label="ill", drop=["sex", "hospital"]).X.shape[1] == 2
    assert prepared(file="mine.csv", label="ill", features="dose", categorical="sex").X.shape[1] == 3
    with pytest.raises(UserError, match="no column is left for features"):
        prepared(file="mine.csv", label="ill", drop=["age", "dose", "sex", "hospital"])
    for keys in ({"features": ["dose", "ill"]}, {"categorical": ["sex", "ill"]}):
        with pytest.raises(UserError, match="the column 'ill' is no feature, but named under label"):
            prepared(file="mine.csv", label="ill", drop="hospital", **keys)


def test_labels_are_sorted_as_numbers_where_all_are():
    assert survey("x,y\n1,10\n2,9\n3,10\n4,9\n").class_names == ("9", "10")
    assert survey("x,y\n1,1.0\n2,2.0\n3,1.0\n4,2.0\n").class_names == ("1", "2")
    assert survey("x,y\n1,b\n2,a\n3,b\n4,a\n").class_names == ("a", "b")
    assert survey("x,y\n1,true\n2,false\n3,true\n4,false\n").class_names == ("0", "1")


NO_CSV = "mine.csv: cannot be read as csv: "
MISTAKES = {
    "a,b,y\n1,2,0\n1,2\n": "mine.csv: row 2: column 'y' holds 'nan', and a row needs a label and a client",
    "a,b,y\n1,2,0,\n1,2,1,\n": NO_CSV + "rows have more cells than the header",
    "a,b,y\n1,2,0\n1,2,1,3\n": NO_CSV + "Error tokenizing data. C error: Expected 3 fields in line 3, saw 4",
    'a,b,y\n1,2,"0\n1,2,1\n': NO_CSV + "Error tokenizing data. C error: EOF inside string",
    "": NO_CSV + "No columns to parse from file",
    "a,y,y\n1,0,0\n1,1,1\n": NO_CSV + "two columns are called 'y'",
    "a,b,y\n1,,0\n1,2,1\n": "mine.csv: row 1: column 'b' holds 'nan', which is no finite number",
    "a,b,y\n1,2,0\n1,inf,1\n": "mine.csv: row 2: column 'b' holds 'inf', which is no finite number",
    "a,b,y\n1,2,0\n1,1_0,1\n": "mine.csv: row 2: column 'b' holds '1_0', which is no finite number",
    "a,b,y\n1,2,0\n1,1e999,1\n": "mine.csv: row 2: column 'b' holds 'inf', which is no finite number",
    "a,b,y\n1,2,a\n1,2,NA\n": "mine.csv: row 2: column 'y' holds 'nan', and a row needs a label and a client",
    "a,b,y\n": "mine.csv: the samples are float64 (0, 2)",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_a_sentence_with_file_row_and_column(text):
    with pytest.raises(UserError, match=re.escape(MISTAKES[text])):
        survey(text)


def null_complaint():
    """What Python says of a path with a null character; its words differ between versions of Python."""
    try:
        os.stat("a\0b.csv")
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    "spec, complaint",
    [
        ({"client": "hosp"}, "mine.csv: client: there is no column 'hosp'"),
        ({"lable": "y"}, "data mine.csv has no option 'lable'; did you mean 'label'?"),
        ({"test_share": 1}, "test_share is 1; it must be a number, at least 0, less than 1"),
        ({"format": "cvs"}, "data mine.csv: unknown format 'cvs'; did you mean 'csv'?"),
        ({"file": "no.csv"}, "no.csv does not exist"),
        ({"file": "no"}, "data no: unknown format ''"),
        ({"file": ""}, "data .: unknown format ''"),
        ({"file": "a\0b.csv"}, f"b.csv cannot be read: {null_complaint()}"),
        ({"file": 3}, "file is 3; it must be text"),
        ({"cite": "nobody"}, "references.bib has no entry 'nobody'"),
        ({"file": None}, "data needs a value for 'file'"),
    ],
)
def test_a_wrong_mapping_is_a_sentence(spec, complaint):
    with pytest.raises(UserError, match=re.escape(complaint)):
        survey("a,b,y\n1,2,0\n1,2,1\n", **spec)


def test_parquet_says_row_and_column():
    FRAME.assign(dose=[None, *FRAME["dose"][1:]]).to_parquet("mine.parquet")
    with pytest.raises(UserError, match=r"mine.parquet: row 1: column 'dose' holds 'nan'"):
        prepared(file="mine.parquet", **KEYS)
    FRAME.assign(dose=pd.to_datetime("2026-01-01")).to_parquet("mine.parquet")
    with pytest.raises(UserError, match=r"mine.parquet: row 1: column 'dose' holds '2026-01-01 00:00:00', which is no"):
        prepared(file="mine.parquet", **KEYS)
    FRAME.assign(smokes=[True, None] * (ROWS // 2)).to_parquet("mine.parquet")
    with pytest.raises(UserError, match=r"mine\.parquet: row 2: column 'smokes' holds 'None'"):
        prepared(file="mine.parquet", **KEYS)
    table = pa.table([[True, False, True], [0, 1, 1]], names=["smokes", "ill"])
    parquet.write_table(table, "mine.parquet")
    assert prepared(file="mine.parquet", label="ill", test_share=0).X.ravel().tolist() == [1, 0, 1]
    with open("mine.parquet", "wb") as file:
        file.write(b"PAR1 nothing")
    with pytest.raises(UserError, match="cannot be read as parquet"):
        prepared(file="mine.parquet", label="a")


CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff")
WORDS = st.text(CHARACTERS, max_size=8).map("word {}.".format)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53)), min_size=4),
    st.lists(WORDS, min_size=2, max_size=4, unique=True),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_what_pandas_writes_is_read_bit_for_bit(tmp_path_factory, values, words, separator):
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    labels = [words[i % len(words)] for i in range(len(values))]
    frame = pd.DataFrame({"a": [a for a, _ in values], "b": [b for _, b in values], "label it": labels})
    frame.to_csv(path, index=False, sep=separator)
    data = prepared(file=str(path), label="label it", separator=separator, test_share=0)
    assert np.array_equal(data.X, frame[["a", "b"]].to_numpy(np.float64))
    assert len(set(zip(labels, data.y, strict=True))) == len(set(labels)) == data.classes
