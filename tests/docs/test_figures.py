"""Figures that the site puts on the pages of the gallery."""

import pandas as pd
import pytest
from from_code import figures
from PIL import Image

from fedatlas.io import csv
from fedatlas.io.files import write_json
from fedatlas.publish.report.gallery import NO_PICTURE
from fedatlas.results.figures.description import Line, Lines

PAGE = "docs/gallery/made_up"
MARK = "<!-- figure paper/made_up/loss -->"


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """A folder with one drawn figure that has a chart."""
    monkeypatch.setattr(figures, "DRAWN", tmp_path)
    folder = tmp_path / "paper/made_up/figures"
    folder.mkdir(parents=True)
    Image.new("RGB", (9, 9), "white").save(folder / "loss.png")
    chart = Lines(x={"round": "rounds"}, y=("mean", "loss"), lines={"a": Line("A", "#262626", "o")})
    write_json(folder / "loss.json", chart.to_dict())
    csv.write(folder / "loss.csv", pd.DataFrame({"algorithm": ["a", "a"], "round": [1, 2], "mean": [2.0, 1.0]}))


def inserted(text, page=PAGE):
    source = [text]
    figures.insert(None, page, source)
    return source[0]


def test_a_figure_of_the_site_stands_in_place_of_the_words_on_where_it_is(drawn, tmp_path, monkeypatch):
    text = f"{MARK}\n\n{NO_PICTURE} Loss.\n\nafter"
    result = inserted(text)
    assert result.endswith("```\n\nLoss.\n\nafter") and NO_PICTURE not in result
    monkeypatch.setattr(figures, "DRAWN", tmp_path / "nothing")
    assert inserted(text).endswith("draws it. Loss.\n\nafter")


def test_what_is_not_drawn_is_said_and_a_committed_picture_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "DRAWN", tmp_path)
    words = "This figure is not drawn here; `snakemake --cores 2 made_up --config size=paper` draws it."
    assert inserted(MARK).rstrip() == words
    for text in ("![Loss.](paper/made_up/loss.png)", "![Tally](tally.svg)", "no figure"):
        assert inserted(text) == text
    assert inserted(MARK, "docs/how-to/record") == MARK
