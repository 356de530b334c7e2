"""The gallery: entries that stay, the ledger, the tally."""

import dataclasses
import json

import pandas as pd
import pytest
from PIL import Image

from fedatlas.errors import UserError
from fedatlas.experiments import result_files as files
from fedatlas.io import csv
from fedatlas.publish.report import changes, gallery, gallery_page
from fedatlas.publish.report.verdicts import at_largest_size
from tests.report.sample import experiment, results


@pytest.fixture
def result_folders(tmp_path):
    """Results of two experiments, with a PNG beside each figure."""
    folders = []
    for name in ("one", "two"):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        results(folder, experiment(title=f"Experiment {name}"))
        record = json.loads((folder / "about.json").read_text())
        (folder / "about.json").write_text(json.dumps(record | {"name": name}))
        claims = csv.read(folder / "claims.csv", dtype=str, keep_default_na=False)
        csv.write(folder / "claims.csv", claims.assign(experiment=name))
        Image.new("RGB", (9, 9), "white").save(folder / "figures/speed.png")
        folders.append(folder)
    return folders


def listed(name, **changed):
    """What is listed of an experiment as it is, or with some keys of its file changed."""
    result = experiment(**changed)
    looks = gallery.describe_styles(result.plain()["algorithms"])
    return gallery_page.GalleryItem(name, "smoke", changes.digests(result.plain()), looks)


BOTH = [listed("one"), listed("two")]


def write_pages(folders, directory, page, those=BOTH):
    """Make the entries of results, whose figures count as drawn by this code, and return the text of all pages."""
    for folder in folders:
        gallery.write_entry(folder, directory, {"speed": folder / "figures/speed.png"})
    gallery_page.write_page(directory, page, those)
    return pages(directory, page)


def pages(directory, page):
    """Return the text of the index and of the pages of experiments."""
    return "\n".join(path.read_text() for path in [page, *sorted(directory.glob("*.md"))])


def test_an_entry_is_made_again_and_others_stay(result_folders, tmp_path):
    directory, page = tmp_path / "docs/gallery", tmp_path / "docs/gallery.md"
    first = write_pages(result_folders, directory, page)
    (directory / "smoke/one/left_over.png").write_bytes(b"")
    (directory / "three.md").write_text(f"the page of an experiment that is no more\n\n{gallery.MARK}\n")
    (directory / "mine.md").write_text("mine")
    write_pages(result_folders[:1], directory, page)
    (directory / "mine.md").unlink()  # is there only if it was not removed
    assert pages(directory, page) == first
    assert not (directory / "smoke/one/left_over.png").exists() and (directory / "smoke/two/speed.png").exists()
    assert not (directory / "three.md").exists()


def test_the_page_shows_figures_claims_and_counts(result_folders, tmp_path):
    text = write_pages(result_folders, tmp_path / "docs/gallery", tmp_path / "docs/gallery.md")
    assert "| FedAc | [Figure 0](gallery/one.md) · [Figure 0](gallery/two.md) |" in text
    assert not (tmp_path / "docs/gallery/cards.json").exists()  # there are no headlines
    assert "| Time | 48 runs, 1.5 minutes of a processor |" in text and "| In the paper | Figure 0 |" in text
    assert (
        "| Command | `snakemake --cores 2 two --config size=smoke` |" in text and "| Data | breast\\_cancer |" in text
    )
    assert "| Made with | fedatlas 0.1.0, numpy 2.4.6; Some processor, 2 cores, Linux |" in text
    assert "Older than the code" not in text and "Not made yet" not in text
    assert "# FedAc, Figure 0\n\nExperiment one.\n" in text and "(smoke/two/speed.png)" in text
    assert "(Figure 1; check of 2001-02-03, after results) |" in text and "Reading: of all data." in text
    assert "Untested." not in text and "Not tested at this size: 1 more." in text
    ledger = csv.read(tmp_path / "docs/gallery/claims.csv")
    assert list(ledger["experiment"]) == ["one"] * 3 + ["two"] * 3
    chosen = csv.read(tmp_path / "docs/gallery/smoke/one/chosen.csv")
    assert len(chosen) == 12 and set(chosen["lr"]) == {0.1, 1.0}


def test_claims_of_no_paper_do_not_change_the_q_values_of_a_paper(result_folders, tmp_path):
    record = json.loads((result_folders[1] / "about.json").read_text())
    (result_folders[1] / "about.json").write_text(json.dumps(record | {"source": "A question of the atlas's own"}))
    for folder, p in zip(result_folders, (["0.01", "0.04", ""], ["0.9", "0.9", ""]), strict=True):
        claims = csv.read(folder / "claims.csv", dtype=str, keep_default_na=False)
        csv.write(folder / "claims.csv", claims.assign(p=p))
    write_pages(result_folders, tmp_path / "docs/gallery", tmp_path / "docs/gallery.md")
    ledger = csv.read(tmp_path / "docs/gallery/claims.csv")
    assert list(ledger["q"].dropna()) == [0.02, 0.04, 0.9, 0.9]


def test_an_entry_says_which_form_of_the_data_its_runs_have_read(result_folders, tmp_path):
    directory, page = tmp_path / "gallery", tmp_path / "gallery.md"
    plain, meta = files.read(result_folders[0] / "table.parquet")
    lossy = {
        "title": "Photographs",
        "lossy": "from JPEG <copies>",
        "files": [{"name": "a.npz", "sha256": "0123456789abcdef"}],
    }
    files.write(
        result_folders[0] / "table.parquet", plain, meta | {"data": {"cifar10": lossy, "digits": {"title": "Digits"}}}
    )
    text = write_pages(result_folders[:1], directory, page)
    form = "cifar10 (Photographs), from `a.npz` (SHA-256 0123456789ab…). **A lossy copy**: from JPEG &lt;copies\\>"
    assert f"| Data | {form}; digits (Digits) |" in text
    assert "- What is on cifar10 was made from a lossy copy: from JPEG &lt;copies\\>." in page.read_text()
    (entry,) = gallery.read_entries(directory)
    assert entry.data["cifar10"] == gallery.DataForm("Photographs", "from JPEG <copies>", {"a.npz": "0123456789abcdef"})
    path = directory / "smoke/one/entry.json"
    path.write_text(path.read_text().replace('"a.npz": "0123456789abcdef"', '"a.npz": ""'))
    gallery_page.write_page(directory, page, BOTH)
    assert "from `a.npz`. **A" in pages(directory, page)


def test_missing_results_and_broken_entries_are_said(result_folders, tmp_path):
    directory = tmp_path / "docs/gallery"
    (result_folders[0] / "about.json").unlink()
    with pytest.raises(UserError, match="does not exist"):
        gallery.write_entry(result_folders[0], directory, {})
    gallery.write_entry(result_folders[1], directory, {})
    with pytest.raises(UserError, match="two is not in `gallery` of"):
        gallery_page.write_page(directory, tmp_path / "page.md", BOTH[:1])
    (directory / "smoke/two/entry.json").write_text("{}")
    with pytest.raises(UserError, match="is not an entry of the gallery"):
        gallery_page.write_page(directory, tmp_path / "page.md", BOTH)
    with pytest.raises(UserError, match="has no entries"):
        gallery_page.write_page(tmp_path / "none", tmp_path / "page.md", BOTH)


def test_results_that_lack_a_figure_leave_the_entry_as_it_is(result_folders, tmp_path):
    gallery.write_entry(result_folders[0], tmp_path, {})
    (result_folders[0] / "figures/speed.png").unlink()
    with pytest.raises(UserError, match=r"speed\.png does not exist"):
        gallery.write_entry(result_folders[0], tmp_path, {})
    assert (tmp_path / "smoke/one/speed.png").exists()


def test_what_is_older_than_file_or_code_is_marked(result_folders, tmp_path):
    directory, page = tmp_path / "gallery", tmp_path / "gallery.md"
    other = listed("one", seeds=[0, 1, 2], title="Other words", algorithms={"fedac-1": {}, "fedavg": {}})
    text = write_pages(result_folders, directory, page, [other, BOTH[1]])
    assert text.count("Older than the code") == 1
    assert "has changed since these results were made, in `algorithms`, `seeds`." in text
    colours = dataclasses.replace(BOTH[0], looks={**BOTH[0].looks, "fedavg": "#123456 o -"})
    text = write_pages(result_folders, directory, page, [colours, BOTH[1]])
    assert text.count("Older than the code") == 1 and "colours or marks of an older version" in text
    gallery.write_entry(result_folders[0], directory, {})  # a figure that this code did not draw
    gallery_page.write_page(directory, page, BOTH)
    assert pages(directory, page).count("colours or marks of an older version") == 1


def test_what_is_listed_and_not_made_has_its_command(result_folders, tmp_path):
    text = write_pages(result_folders[:1], tmp_path / "gallery", tmp_path / "gallery.md")
    assert "## Not made yet\n\n- two, size smoke: `snakemake --cores 2 two --config size=smoke`" in text


def test_a_claim_counts_at_the_largest_size_that_tests_it():
    rows = [("a", "laptop", "held"), ("a", "paper", "not tested at this size"), ("b", "paper", "not held")]
    rows += [("b", "laptop", "held"), ("c", "laptop", "not tested at this size")]
    ledger = pd.DataFrame(rows, columns=["claim", "size", "verdict"]).assign(experiment="e", source="Figure 1")
    result = at_largest_size(ledger).set_index("claim")["verdict"].to_dict()
    assert result == {"a": "held", "b": "not held", "c": "not tested at this size"}
