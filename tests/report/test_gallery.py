"""The gallery: items of the record, the ledger, the tally."""

import pytest
from PIL import Image

from fedatlas.experiments import result_files as files
from fedatlas.experiments.view import TableMeta
from fedatlas.io.formats import read_csv
from fedatlas.publish.report import gallery
from fedatlas.publish.report.facts import read_facts, read_verdicts
from fedatlas.publish.report.gallery import GalleryItem
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
    meta = files.read_meta(folder / "table.parquet")
    meta = TableMeta.from_dict(meta if data is None else {**meta, "data": data})
    facts = read_facts(folder / "about.json") | {"name": name, **changes}
    claims = [row | {"experiment": name} for row in read_verdicts(folder / "claims.csv")]
    return GalleryItem(facts, meta, claims, ["3 of 4 cells agree"])


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
    ledger = read_csv(tmp_path / "docs/gallery/claims.csv")
    assert list(ledger["experiment"]) == ["one"] * 3 + ["two"] * 3
