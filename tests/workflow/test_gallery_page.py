"""`fedatlas gallery`: from results that are there, and from what is committed."""

import json
import shutil

import numpy as np
import pytest
import yaml
from PIL import Image

from fedatlas.cli.main import main
from fedatlas.io import csv
from fedatlas.publish.report.gallery_page import write_page
from fedatlas.publish.report.headlines import FOLDER, read_headlines
from fedatlas.workflow import gallery_page
from fedatlas.workflow.study import Study
from tests.workflow.project import ROOT, TINY


@pytest.fixture(scope="module")
def listed():
    """What the atlas's gallery is to show, and the figures of each experiment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        atlas = Study.open()
        figures = {(size, name): atlas.files.load(name, size).figures for size, name in atlas.gallery()}
        return gallery_page.contents(atlas), figures


def test_the_committed_gallery_is_what_the_target_makes_of_it(listed, tmp_path):
    """After a change of an experiment's file or of colours, `make gallery` marks what is older."""
    shutil.copytree(ROOT / "docs/gallery", tmp_path / "gallery")
    papers, hours = read_headlines(ROOT / FOLDER), gallery_page.paper_hours()
    write_page(tmp_path / "gallery", tmp_path / "gallery.md", listed[0], papers, hours)
    assert (tmp_path / "gallery.md").read_text() == (ROOT / "docs/gallery.md").read_text(), "run `make gallery`"
    files = [path.name for path in (tmp_path / "gallery").iterdir() if path.suffix in (".md", ".csv", ".json")]
    assert len(files) > 60
    for name in files:
        result, committed = (folder / name for folder in (tmp_path / "gallery", ROOT / "docs/gallery"))
        assert result.read_text() == committed.read_text(), f"{name}: run `make gallery`"


def test_committed_figures_have_the_colours_of_the_code(listed):
    """Entries that the page marks as older are left out."""
    checked = 0
    for item in listed[0]:
        folder = ROOT / "docs/gallery" / item.size / item.name
        if not folder.exists() or json.loads((folder / "entry.json").read_text())["looks"] != item.looks:
            continue
        for name, entry in listed[1][item.size, item.name].items():
            spec = entry.spec
            if spec["kind"] not in ("convergence", "scaling", "sensitivity"):
                continue
            with Image.open(folder / f"{name}.png") as image:
                palette = np.array(image.getpalette()).reshape(-1, 3)
            for id in spec.get("algorithms") or item.looks:
                colour = [int(item.looks[id][start : start + 2], 16) for start in (1, 3, 5)]
                assert np.linalg.norm(palette - colour, axis=1).min() < 6, f"{folder}/{name}.png: {id}"
                checked += 1
    assert checked > 100


def test_the_committed_gallery_is_small():
    sizes = {path: path.stat().st_size for path in (ROOT / "docs/gallery").rglob("*") if path.is_file()}
    assert max(sizes.values()) < 400_000 and sum(sizes.values()) < 14_500_000


def test_results_become_an_entry_with_figures_of_this_code(tmp_path, monkeypatch, capsys):
    from tests.paper.conftest import finish

    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("size: smoke\ngallery: {smoke: [tiny], laptop: [tiny]}\n")
    (tmp_path / "config/experiments/tiny.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    finish("tiny")
    assert main(["gallery"]) == 0
    entry = tmp_path / "docs/gallery/smoke/tiny"
    assert {path.name for path in entry.iterdir()} == {"loss.png", "claims.csv", "chosen.csv", "entry.json"}
    page = (tmp_path / "docs/gallery/tiny.md").read_text()
    assert "cores, " in page or "core, " in page  # the machine, of the run files
    assert "Older than the code" not in page and "| Code | fedavg `" in page
    assert "- tiny, size laptop: `snakemake" in (tmp_path / "docs/gallery.md").read_text()
    assert list(csv.read(tmp_path / "docs/gallery/claims.csv")["claim"]) == ["first"]
    shutil.rmtree(tmp_path / "results")
    assert main(["gallery"]) == 0 and (tmp_path / "docs/gallery/tiny.md").read_text() == page


def test_a_figure_that_cannot_be_drawn_is_that_of_the_results(tmp_path, monkeypatch, capsys):
    from tests.paper.conftest import finish

    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("size: smoke\ngallery: {smoke: [tiny]}\n")
    path = tmp_path / "config/experiments/tiny.yaml"
    path.write_text(yaml.safe_dump(TINY, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    finish("tiny")
    path.write_text(yaml.safe_dump({**TINY, "figures": {}}, sort_keys=False))
    (tmp_path / "results/smoke/tiny/figures").mkdir()
    Image.new("RGB", (9, 9), "white").save(tmp_path / "results/smoke/tiny/figures/loss.png")
    assert main(["gallery"]) == 0 and "figure loss is the one that lies in the results" in capsys.readouterr().out
    page = (tmp_path / "docs/gallery/tiny.md").read_text()
    assert "made, in `figures`." in page and "colours or marks of an older version" in page


@pytest.mark.parametrize(
    "path",
    ["gallery.md", "gallery/mine.md", "gallery/claims.csv", "gallery/smoke/tiny/mine.txt", "gallery/smoke/x"],
)
def test_files_of_another_origin_are_not_replaced(tmp_path, monkeypatch, capsys, path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("gallery: {smoke: [fedac_fig1]}\n")
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "docs" / path
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    assert main(["gallery"]) == 2 and f"docs/{path} is not of `fedatlas gallery`" in capsys.readouterr().err
    assert mine.read_text() == "mine" and [file for file in tmp_path.glob("docs/**/*") if file.is_file()] == [mine]


def test_a_study_without_a_gallery_is_told_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["gallery"]) == 2 and "names no experiments for the gallery" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["entry.json", "claims.csv"])
def test_entries_hold_what_the_page_needs(name):
    assert len(list((ROOT / "docs/gallery").glob(f"*/*/{name}"))) > 30
