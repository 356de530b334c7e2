"""The gallery: entries that stay, the ledger, the tally."""

import json

import pandas as pd
import pytest
from PIL import Image

from fedatlas import csv_files
from fedatlas.errors import UserError
from fedatlas.report import gallery
from fedatlas.report.ledger import largest

from .made import experiment, results


@pytest.fixture
def made(tmp_path):
    """Results of two experiments, with a PNG beside each figure."""
    folders = []
    for name in ("one", "two"):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        results(folder, experiment(title=f"Experiment {name}"))
        about = json.loads((folder / "about.json").read_text())
        (folder / "about.json").write_text(json.dumps(about | {"name": name}))
        claims = csv_files.read(folder / "claims.csv", dtype=str, keep_default_na=False)
        csv_files.write(folder / "claims.csv", claims.assign(experiment=name))
        Image.new("RGB", (9, 9), "white").save(folder / "figures/speed.png")
        folders.append(folder)
    return folders


def test_an_entry_is_made_again_and_others_stay(made, tmp_path):
    place, page = tmp_path / "docs/gallery", tmp_path / "docs/gallery.md"
    gallery.shown(made, place, page)
    first = page.read_text()
    (place / "smoke/one/left_over.png").write_bytes(b"")
    gallery.shown(made[:1], place, page)
    assert page.read_text() == first
    assert not (place / "smoke/one/left_over.png").exists() and (place / "smoke/two/speed.png").exists()


def test_the_page_shows_figures_claims_and_counts(made, tmp_path):
    gallery.shown(made, tmp_path / "docs/gallery", tmp_path / "docs/gallery.md")
    text = (tmp_path / "docs/gallery.md").read_text()
    assert "Of 6 claims, each at the largest size that tests it: 2 held, 2 not held, 2 not tested at this size." in text
    assert "48 runs, 1.5 minutes of a processor." in text
    assert "### Experiment one" in text and "(gallery/smoke/two/speed.png)" in text
    assert "| FedAc is &lt;better\\> at K = 1. (Figure 1) |" in text and "Reading: of all data." in text
    assert "Untested." not in text and "Not tested at this size: 1 more." in text
    ledger = csv_files.read(tmp_path / "docs/gallery/claims.csv")
    assert list(ledger["experiment"]) == ["one"] * 3 + ["two"] * 3
    chosen = csv_files.read(tmp_path / "docs/gallery/smoke/one/chosen.csv")
    assert len(chosen) == 12 and set(chosen["lr"]) == {0.1, 1.0}


def test_missing_results_and_broken_entries_are_said(made, tmp_path):
    place = tmp_path / "docs/gallery"
    (made[0] / "about.json").unlink()
    with pytest.raises(UserError, match="does not exist"):
        gallery.make(made[0], place)
    gallery.make(made[1], place)
    (place / "smoke/two/entry.json").write_text("{}")
    with pytest.raises(UserError, match="is no entry of the gallery"):
        gallery.page(place, tmp_path / "page.md")


def test_a_claim_counts_at_the_largest_size_that_tests_it():
    rows = [("a", "laptop", "held"), ("a", "paper", "not tested at this size"), ("b", "paper", "not held")]
    rows += [("b", "laptop", "held"), ("c", "laptop", "not tested at this size")]
    ledger = pd.DataFrame(rows, columns=["claim", "size", "verdict"]).assign(experiment="e", source="Figure 1")
    found = largest(ledger).set_index("claim")["verdict"].to_dict()
    assert found == {"a": "held", "b": "not held", "c": "not tested at this size"}
