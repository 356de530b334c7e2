"""Text of experiment files stays text in tables."""

import pandas as pd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedatlas.io.formats import read_csv, write_csv

TEXTS = st.text(st.sampled_from("ab 1.-+=@'\t\n,\"<>&`*_[]{}|\\:/$^~#!é"), max_size=20)


@settings(max_examples=100)
@example(["-0.5", "=1+1", "'=x", "'-1", "it's", "@a", "+b", "-inf"], [-0.5, 2.0])
@given(st.lists(TEXTS, min_size=1, max_size=8), st.lists(st.floats(allow_nan=False), min_size=1, max_size=3))
def test_tables_are_read_as_they_were_written(tmp_path_factory, texts, numbers):
    path = tmp_path_factory.getbasetemp() / "table.csv"
    frame = pd.DataFrame({"text": texts, "number": (numbers * len(texts))[: len(texts)]})
    write_csv(path, frame)
    again = read_csv(path, keep_default_na=False, dtype={"text": str})
    pd.testing.assert_frame_equal(again, frame)
