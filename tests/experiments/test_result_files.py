"""Result files: rows come back as they were written, as rows and as a DataFrame."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.errors import UserError
from fedatlas.experiments import result_files as files

KINDS = {
    "text": st.text(),
    "whole": st.integers(-(2**63), 2**63 - 1),
    "real": st.floats(),
    "truth": st.booleans(),
    "some": st.none() | st.floats(),
}
ROWS = st.lists(st.fixed_dictionaries(KINDS), min_size=1, max_size=20)


@settings(deadline=None)
@given(rows=ROWS)
def test_rows_come_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("files") / "a.parquet"
    files.write(path, [{name: value for name, value in row.items() if value is not None} for row in rows], {"a": 1})
    table, meta = files.read_table(path)
    back = table.to_pylist()
    frame, same = files.read(path)
    assert meta == same == {"a": 1}
    for i, row in enumerate(rows):
        for name in back[0]:
            expected = math.nan if row[name] is None else row[name]
            for value in (back[i][name], frame[name][i]):
                assert value == expected or (value != value and expected != expected)
    assert set(back[0]) == {name for row in rows for name, value in row.items() if value is not None}
    assert [frame[name].dtype.kind for name in ("whole", "real", "truth")] == ["i", "f", "b"]


def test_lists_that_some_rows_lack(tmp_path):
    files.write(tmp_path / "a.parquet", [{"n": 1}, {"n": 2, "each": [1.0, 2.5]}, {"n": 3, "each": [3.0]}], {})
    assert [row["each"] for row in files.read_table(tmp_path / "a.parquet")[0].to_pylist()] == [None, [1.0, 2.5], [3.0]]
    frame, _ = files.read(tmp_path / "a.parquet")
    assert list(frame["each"][1]) == [1.0, 2.5]


def test_no_result_file(tmp_path):
    (tmp_path / "a.parquet").write_text("text")
    for read in (files.read, files.read_table, files.read_meta):
        with pytest.raises(UserError, match="is not a result file"):
            read(tmp_path / "a.parquet")
