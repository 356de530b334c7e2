"""The gallery: pages and pictures from the record."""

import shutil
from pathlib import Path

import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.io.formats import read_csv
from fedatlas.publish.report import gallery
from fedatlas.publish.report.cards import FOLDER, read_headlines
from fedatlas.publish.report.gallery import write_pages
from fedatlas.records.lookup import record_paths
from fedatlas.workflow import gallery_page
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import paper_hours
from tests.workflow.finished import add_record
from tests.workflow.project import ROOT, TINY

COMMITTED = ROOT / "docs/gallery"
CHEAP = 20_000  # bytes of a record whose page is made again here


def publish():
    gallery_page.publish(Study.open(), Path(gallery_page.PAGE), print)


def pages_of(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.suffix in (".md", ".csv")}


@pytest.mark.slow  # of the record's many files; the next test is of a small record
def test_committed_pages_are_what_the_record_gives(monkeypatch, tmp_path):
    """Pages of experiments with small records, but for their checks, whose q-values depend on all experiments."""
    monkeypatch.chdir(ROOT)
    study = Study.open()
    held, items = record_paths(study), []
    for size, name in study.gallery():
        path = held.get((size, name))
        if path and sum(file.stat().st_size for file in path.iterdir()) < CHEAP:
            items.append(gallery_page.recorded_item(study, size, name, tmp_path / f"results/{size}/{name}"))
    items.sort(key=lambda item: (-gallery.SIZES.index(item.facts["size"]), item.name))
    verified = gallery_page.verified_records(study)
    shutil.copytree(COMMITTED, tmp_path / "gallery")
    write_pages(
        tmp_path / "gallery", tmp_path / "gallery.md", items, read_headlines(FOLDER), paper_hours(), {}, verified
    )
    made, committed = pages_of(tmp_path / "gallery"), pages_of(COMMITTED)
    for page in {f"{item.name}.md" for item in items} | {"verified.md"}:
        ours, theirs = (text.partition("## Checks")[0] for text in (made[page], committed[page]))
        assert ours == theirs, f"{page}: run `make gallery`"
    assert len(items) > 1


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A study with a record of the tiny experiment, without results."""
    tmp_path = tmp_path_factory.mktemp("recorded")
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("size: smoke\ngallery: {smoke: [tiny], laptop: [fedac_fig1]}\n")
    (tmp_path / "config/headlines").mkdir()
    headline = {
        "title": "Better",
        "quote": "It is better.",
        "place": "Abstract",
        "parts": {"all": ["tiny/first"]},
        "evidence": {"smoke": "same"},
        "figure": "tiny/loss",
        "tried": "All.",
    }
    headlines = {"paper": "yuan2020", "headlines": {"one": headline}}
    (tmp_path / "config/headlines/x.yaml").write_text(yaml.safe_dump(headlines))
    add_record(tmp_path, "tiny", TINY)
    shutil.rmtree(tmp_path / "results")
    return tmp_path


@pytest.fixture
def recorded(original, tmp_path, monkeypatch):
    """A copy of the study as working directory, without the records of the atlas."""
    monkeypatch.chdir(shutil.copytree(original, tmp_path / "study"))
    monkeypatch.setattr(Study, "record_folders", [tmp_path / "study/record"])
    return tmp_path / "study"


def test_the_record_becomes_pages_and_the_pictures_of_cards(recorded, capsys):
    old = recorded / "docs/gallery/smoke/tiny"
    old.mkdir(parents=True)
    for name in ("loss.png", "of_no_card.png"):
        (old / name).write_text("of before")
    publish()
    assert "tiny (size smoke): from the record" in capsys.readouterr().out
    assert {path.name for path in old.iterdir()} == {"loss.png"}
    assert (old / "loss.png").read_bytes().startswith(b"\x89PNG")
    page = (recorded / "docs/gallery/tiny.md").read_text()
    assert "cores, " in page or "core, " in page  # the machine, of the run files
    assert "| Code | fedavg `" in page and "2 of 8 runs were computed again and agree to the last bit" in page
    verified = (recorded / "docs/gallery/verified.md").read_text()
    assert "| tiny | smoke | 2 of 8 runs were computed again and agree to the last bit | " in verified
    assert "| fedac\\_fig1 | laptop |" in (recorded / "docs/gallery.md").read_text()
    assert list(read_csv(recorded / "docs/gallery/claims.csv")["claim"]) == ["first"]
    assert "![Better: a figure of the results](smoke/tiny/loss.png)" in (recorded / "docs/gallery/x.md").read_text()
    before = pages_of(recorded / "docs/gallery")
    publish()
    assert pages_of(recorded / "docs/gallery") == before
    assert not (recorded / "results/smoke/tiny/runs").exists()


def test_a_record_that_lacks_cells_is_said(recorded, capsys):
    text = (recorded / "config/experiments/tiny.yaml").read_text()
    (recorded / "config/experiments/tiny.yaml").write_text(text.replace("rounds: 5", "rounds: 6"))
    with pytest.raises(UserError, match="the record has no experiment of the gallery"):
        publish()
    output = capsys.readouterr()
    assert "cannot be shown from the record: the record lacks 2 of 2 cells of the experiment" in output.out


@pytest.mark.parametrize(
    "path",
    ["gallery.md", "gallery/mine.md", "gallery/claims.csv", "gallery/smoke/tiny/mine.txt", "gallery/smoke/x"],
)
def test_files_of_another_origin_are_not_replaced(tmp_path, monkeypatch, path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("gallery: {smoke: [fedac_fig1]}\n")
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "docs" / path
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(UserError, match=f"docs/{path} is not of `make gallery`"):
        publish()
    assert mine.read_text() == "mine" and [file for file in tmp_path.glob("docs/**/*") if file.is_file()] == [mine]


def test_a_study_without_a_gallery_or_with_an_experiment_twice_is_told_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="names no experiments for the gallery"):
        publish()
    assert not list(tmp_path.iterdir())
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("gallery: {smoke: [fedac_fig1], laptop: [fedac_fig1]}\n")
    with pytest.raises(UserError, match="at one size"):
        publish()
