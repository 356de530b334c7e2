"""Text of experiment files stays text: in HTML, in captions of Snakemake's report, in Markdown and in spreadsheets."""

import csv
from html.parser import HTMLParser

import pandas as pd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.tables import Tables
from fedatlas.io import csv as csv_io
from fedatlas.publish.report.page import write_report
from fedatlas.publish.tracking.records import report_run
from tests.report import sample

SCRIPT = "<script>alert(1)</script>\"'&"
TEXTS = st.text(st.sampled_from("ab 1.-+=@'\t\n,\"<>&`*_[]{}|\\:/$^~#!é"), max_size=20)


class Read(HTMLParser):
    """The tags, the text and the scripts of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.scripts = set(), "", ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts += data
        else:
            self.text += data


def test_no_text_of_an_experiment_is_html_in_the_report(tmp_path):
    hostile = sample.experiment(
        title=SCRIPT,
        source=SCRIPT,
        description=f"`{SCRIPT}` and {SCRIPT}",
        notes=[SCRIPT],
        algorithms={"fedavg": {"label": SCRIPT}, "fedac-1": {}},
        figures={"speed": {**sample.CONTENT["figures"]["speed"], "caption": SCRIPT}},
    )
    sample.results(tmp_path, hostile)
    claims = pd.read_csv(tmp_path / "claims.csv", keep_default_na=False)
    csv_io.write(tmp_path / "claims.csv", claims.assign(**dict.fromkeys(("text", "note", "source", "ours"), SCRIPT)))
    write_report([tmp_path], tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Read(html)
    assert "alert" not in page.scripts and page.text.count("alert(1)") >= 8
    facts, (table, plain) = sample.build_facts(hostile, sample.view(hostile)), read(tmp_path / "table.parquet")
    run = report_run(facts, Tables(table, table, table, TableMeta.from_dict(plain)), 0, tmp_path)
    assert "alert(1)" in run.tags["mlflow.note.content"] and "<script" not in run.tags["mlflow.note.content"]


@settings(max_examples=100)
@example(["-0.5", "=1+1", "'=x", "'-1", "it's", "@a", "+b", "-inf"], [-0.5, 2.0])
@given(st.lists(TEXTS, min_size=1, max_size=8), st.lists(st.floats(allow_nan=False), min_size=1, max_size=3))
def test_tables_are_read_as_they_were_written(tmp_path_factory, texts, numbers):
    path = tmp_path_factory.getbasetemp() / "table.csv"
    frame = pd.DataFrame({"text": texts, "number": (numbers * len(texts))[: len(texts)]})
    csv_io.write(path, frame)
    again = csv_io.read(path, keep_default_na=False, dtype={"text": str})
    pd.testing.assert_frame_equal(again, frame)
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    for text, number in rows:
        float(number)
        if text.startswith(("=", "+", "-", "@", "\t")):
            float(text)
