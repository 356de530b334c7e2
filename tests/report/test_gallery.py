"""The gallery: items of the record, the ledger, the tally."""

import dataclasses

import pandas as pd
import pytest
from PIL import Image

from fedatlas.experiments import result_files as files
from fedatlas.experiments.metadata import TableMeta
from fedatlas.io import csv
from fedatlas.publish.report import gallery
from fedatlas.publish.report.facts import read_facts
from fedatlas.publish.report.gallery import MARK, MEANING, NO_PICTURE, GalleryItem, MissingRecord
from fedatlas.publish.report.headlines import Headline, PaperHeadlines
from fedatlas.publish.report.verdicts import at_largest_size, read_claims
from tests.report.sample import experiment, results


@pytest.fixture
def folder(tmp_path):
    """Results of an experiment."""
    target = tmp_path / "results"
    target.mkdir()
    results(target, experiment(title="Experiment one"))
    return target


def item(folder, name="one", data=None, **changes):
    """The item of results under another name, with other data and some changes of its facts."""
    table, meta = files.read(folder / "table.parquet")
    meta = TableMeta.from_dict(meta if data is None else {**meta, "data": data})
    facts = read_facts(folder / "about.json") | {"name": name, **changes}
    claims = read_claims(folder / "claims.csv").assign(experiment=name)
    return GalleryItem(facts, meta, claims, table[table["chosen"]], ["3 of 4 cells agree"])


def write(tmp_path, *items, **more):
    """Write the pages, and return their text."""
    directory, page = tmp_path / "docs/gallery", tmp_path / "docs/gallery.md"
    gallery.write_pages(directory, page, items, **more)
    return "\n".join(path.read_text() for path in [page, *sorted(directory.glob("*.md"))])


def test_the_pages_show_figures_claims_and_counts(folder, tmp_path):
    picture = tmp_path / "docs/gallery/smoke/two/speed.png"
    picture.parent.mkdir(parents=True)
    Image.new("RGB", (9, 9), "white").save(picture)
    text = write(tmp_path, item(folder), item(folder, "two", title="Experiment two"))
    assert "| FedAc | [Figure 0](gallery/one.md) · [Figure 0](gallery/two.md) |" in text
    assert "| Time | 48 runs, 1.5 minutes of a processor |" in text and "| In the paper | Figure 0 |" in text
    assert "| Command | `snakemake --cores 2 two --config size=smoke` |" in text
    assert "| Data | breast\\_cancer |" in text and "| Verified | 3 of 4 cells agree |" in text
    assert "| Made with | fedatlas 0.1.0, numpy 2.4.6; Some processor, 2 cores, Linux |" in text
    assert "# FedAc, Figure 0\n\nExperiment one.\n" in text and "Not in the record" not in text
    assert "(smoke/two/speed.png)" in text and "<!-- figure smoke/one/speed -->" in text
    assert "Interpretation: of all data." in text
    assert "Untested." not in text and "Not tested at this size: 1 more." in text
    ledger = csv.read(tmp_path / "docs/gallery/claims.csv")
    assert list(ledger["experiment"]) == ["one"] * 3 + ["two"] * 3


def test_a_row_without_a_number_says_why(folder, tmp_path):
    first = item(folder)
    claims = first.claims.assign(ours="", note="FedAvg diverges.", verdict="not tested")
    assert "| FedAvg diverges. | 5 |" in write(tmp_path, dataclasses.replace(first, claims=claims))


def test_no_caption_stands_without_a_picture_or_the_place_of_it(folder, tmp_path):
    picture = tmp_path / "docs/gallery/smoke/one/speed.png"
    picture.parent.mkdir(parents=True)
    Image.new("RGB", (9, 9), "white").save(picture)
    write(tmp_path, item(folder), item(folder, "two"))
    one, two = ((tmp_path / f"docs/gallery/{name}.md").read_text() for name in ("one", "two"))
    assert "(smoke/one/speed.png)\n\nScores against M." in one and NO_PICTURE not in one
    assert f"<!-- figure smoke/two/speed -->\n\n{NO_PICTURE} Scores against M." in two


def test_a_page_explains_its_columns_and_its_evidence(folder, tmp_path):
    headline = {
        "title": "Better",
        "quote": "It is better.",
        "place": "Abstract",
        "tried": "All.",
        "substitute": "LeNet",
    }
    headline |= {"parts": {"all": ["one/first"]}, "evidence": {"smoke": "substitute"}}
    papers = [PaperHeadlines(name="x", paper="yuan2020", headlines={"one": Headline(**headline)})]
    write(tmp_path, item(folder), item(folder, "two"), papers=papers)
    one, two = ((tmp_path / f"docs/gallery/{name}.md").read_text() for name in ("one", "two"))
    assert f"## Checks\n\n{MEANING}\n\n| Claim | Paper | Here | Seeds | q | Verdict |" in one
    level = "a substitute for the paper's model or data: LeNet. Its verdicts do not test the paper's sentences"
    assert f"| Evidence | {level} |" in one and "| Evidence |" not in two


def test_pages_of_experiments_that_are_no_more_go(folder, tmp_path):
    directory = tmp_path / "docs/gallery"
    first = write(tmp_path, item(folder))
    (directory / "three.md").write_text(f"the page of an experiment that is no more\n\n{MARK}\n")
    (directory / "mine.md").write_text("mine")
    write(tmp_path, item(folder))
    (directory / "mine.md").unlink()  # is there only if it was not removed
    assert write(tmp_path, item(folder)) == first and not (directory / "three.md").exists()


def test_a_page_says_how_near_an_attack_brought_its_bounds(folder, tmp_path):
    rows = {
        "experiment": ["one", "one", "one"],
        "statement": ["Theorem 1", "Lemma 2", "Lemma 3"],
        "share": [0.59, 0.004, None],
        "draws": [1200, 9, 7],
        "erratum": ["", "", "lemma"],
    }
    (tmp_path / "docs/gallery").mkdir(parents=True)
    csv.write(tmp_path / "docs/gallery/statements.csv", pd.DataFrame(rows))
    write(tmp_path, item(folder), item(folder, "two"))
    one, two = ((tmp_path / "docs/gallery" / f"{name}.md").read_text() for name in ("one", "two"))
    assert "- Theorem 1: at worst 59 % of the bound, in 1,200 draws." in one
    assert "- Lemma 2: at worst less than 1 % of the bound, which is loose there, in 9 draws." in one
    assert "- Lemma 3: false ([erratum](../errata/lemma.md))." in one and "attack" not in two


def test_claims_of_no_paper_do_not_change_the_q_values_of_a_paper(folder, tmp_path):
    first, second = item(folder), item(folder, "two", source="A question of the atlas's own")
    pairs = zip((first, second), (["0.01", "0.04", ""], ["0.9", "0.9", ""]), strict=True)
    write(tmp_path, *(dataclasses.replace(each, claims=each.claims.assign(p=p)) for each, p in pairs))
    ledger = csv.read(tmp_path / "docs/gallery/claims.csv")
    assert list(ledger["q"].dropna()) == [0.02, 0.04, 0.9, 0.9]


def test_an_entry_says_which_form_of_the_data_its_runs_have_read(folder, tmp_path):
    provenance = {
        "title": "Photographs",
        "lossy": "from JPEG <copies>",
        "files": [{"name": "a.npz", "sha256": "0123456789abcdef"}],
    }
    data = {"cifar10": provenance, "digits": {"title": "Digits"}}
    text = write(tmp_path, item(folder, data=data))
    form = "cifar10 (Photographs), from `a.npz` (SHA-256 0123456789ab…). **A lossy copy**: from JPEG &lt;copies\\>"
    assert f"| Data | {form}; digits (Digits) |" in text
    assert "- What is on cifar10 was made from a lossy copy: from JPEG &lt;copies\\>." in text
    data = {"cifar10": provenance | {"files": [{"name": "a.npz", "sha256": ""}]}}
    assert "from `a.npz`. **A" in write(tmp_path, item(folder, data=data))


def test_experiments_without_a_record_are_listed_with_their_hours(folder, tmp_path):
    text = write(
        tmp_path, item(folder), missing=[MissingRecord("smoke", "new", 2.0), MissingRecord("paper", "other", None)]
    )
    assert "| new | smoke | 2.0 hours |\n| other | paper | unknown |" in text
    assert not (tmp_path / "docs/gallery/new.md").exists()


def test_a_claim_counts_at_the_largest_size_that_tests_it():
    rows = [("a", "laptop", "held"), ("a", "paper", "not tested at this size"), ("b", "paper", "not held")]
    rows += [("b", "laptop", "held"), ("c", "laptop", "not tested at this size")]
    ledger = pd.DataFrame(rows, columns=["claim", "size", "verdict"]).assign(experiment="e", source="Figure 1")
    result = {claim: row["verdict"] for (_, claim), row in at_largest_size(ledger.to_dict("records")).items()}
    assert result == {"a": "held", "b": "not held", "c": "not tested at this size"}
