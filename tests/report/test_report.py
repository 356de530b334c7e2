"""The report: whole, self-contained and safe."""

import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.view import TableMeta
from fedatlas.publish.report import tables
from fedatlas.publish.report.cards import LEVELS
from fedatlas.publish.report.facts import build_facts
from fedatlas.publish.report.page import write_report
from fedatlas.publish.report.tables import find_warnings
from tests.report.sample import experiment, results, table, view


class Page(HTMLParser):
    """The content of a page: ids, links, resources, text, and tags that are open at the end."""

    def __init__(self, html):
        super().__init__()
        self.ids, self.links, self.resources, self.open, self.text = [], [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        if tag == "a":
            self.links.append(values["href"])
        else:
            self.resources += [values[key] for key in ("src", "href", "data", "srcset", "poster") if key in values]
        if tag not in ("meta", "link", "img", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An experiment's folder with all files that a report needs."""
    folder = tmp_path_factory.mktemp("results") / "smoke/made_up"
    results(folder, experiment())
    return folder


@pytest.fixture(scope="module")
def html(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "report.html"
    write_report([folder], out)
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def facts():
    spec = experiment()
    return build_facts(spec, view(spec))


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_elements_nest_and_ids_are_unique(page):
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_every_section_is_there(page):
    text = " ".join(" ".join(page.text).split())
    sections = ("Contents", "Federated Accelerated Stochastic Gradient Descent", "Choices and deviations", "Figure 1.")
    sections += ("Claims", "Best values", "Chosen hyper-parameters and costs")
    sections += ("Read these numbers with care", "Data", "Versions and fingerprints", "References", "BibTeX")
    for section in (*sections, "breast_cancer", "0123456789abcdef", "@inproceedings{mcmahan2017", "It does not."):
        assert section in text
    for verdict in ("held", "not held", "not tested at this size"):
        assert f"{verdict}" in text
    assert re.search(r"✓ held.*✗ not held.*1 claim tested at larger sizes only.*– not tested at this size", text)
    assert "The runs were computed with fedatlas 0.1.0" in text and "numpy 2.4.6" in text and " cores, " in text


def test_it_needs_nothing_from_elsewhere(page, html):
    assert all(resource.startswith("data:") for resource in page.resources)
    assert len([r for r in page.resources if r.startswith("data:image/png;base64,")]) == 1
    assert "url(" not in html and "@import" not in html and "fetch(" not in html
    assert {link.split("/")[2] for link in page.links if link.startswith("http")} == {"arxiv.org"}
    assert html.count('id="library"') == 1


def test_text_is_escaped(html):
    assert "Made up &amp; &lt; true" in html
    assert "FedAc is &lt;better&gt;" in html and "<better>" not in html


@pytest.mark.parametrize("missing", ["about.json", "table.parquet", "claims.csv", "figures/speed.png"])
def test_missing_files_are_named(folder, tmp_path, missing):
    copy = shutil.copytree(folder, tmp_path / "made_up")
    (copy / missing).unlink()
    with pytest.raises(UserError, match=re.escape(missing)):
        write_report([copy], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_best_values(facts):
    result = tables.best_values(facts, table())
    assert result.corner == ["K", "M"] and result.heads == [[("FedAvg", 1), ("FedAc-I", 1)]]
    assert len(result.blocks) == 2  # values of K
    cells = {names: row for _, rows in result.blocks for names, row in rows}
    assert len(cells) == 6
    assert cells["8", "4"][0].text == "diverged"
    assert [cell.bold for cell in cells["1", "4"]] == [False, True]
    assert [cell.bold for cell in cells["1", "64"]] == [True, True]  # within noise
    assert [cell.text.endswith("†") for cell in cells["1", "64"]] == [False, True]


def test_warnings_are_grouped(facts):
    data = {"cifar10": {"lossy": "images were saved as JPEG"}}
    meta = TableMeta([], data, {}, 8, 0, 0.25, ["runs/a.parquet", "runs/b.parquet"], recorded=2, unverified=1)
    frame = table()
    refuted = (
        (frame["algorithm"] == "fedac-1") & frame["chosen"] & (frame["local_steps"] == 8) & (frame["clients"] == 4)
    )
    frame["confirmation"] = frame["chosen"].map({True: "confirmed", False: ""})
    frame.loc[refuted, "confirmation"] = "confirmed after one refuted value"
    result = find_warnings(facts, frame.to_dict("records"), meta)
    assert "1 of 2 cells come from the record, and nobody has verified them with the code that runs." in result
    assert (
        "FedAc-I: the best `lr` at its highest value of the search in all 6 settings; no best value inside was found."
        in result
    )
    assert (
        "FedAc-I: fresh seeds refuted the best value of the tuning seeds, and the search went on; the chosen value is "
        "confirmed after one refuted value in 1 of 6 settings (K = 8, M = 4)." in result
    )
    assert "FedAvg diverged for every tuned value in 1 of 6 settings (K = 8, M = 4)." in result
    assert "The data set cifar10 is a lossy copy: images were saved as JPEG." in result
    assert len(result) == 5


def test_the_verdict_on_a_quoted_sentence_is_that_of_the_gallery(folder, tmp_path):
    """The numbers of a report at smoke size have decided nothing about the paper's sentence."""
    shutil.copytree(folder, tmp_path / "smoke/made_up")
    about = tmp_path / "smoke/made_up/about.json"
    quoted = {"id": "yuan2020/one", "quote": "It is fast.", "method": "FedAc", "place": "Figure 1"}
    card = quoted | {"verdict": "held", "words": "held", "level": next(iter(LEVELS))}
    about.write_text(json.dumps(json.loads(about.read_text()) | {"cards": [card]}))
    (tmp_path / "docs/gallery").mkdir(parents=True)
    (tmp_path / "docs/gallery/claims.csv").write_text("experiment,size,claim,verdict,ours\n")
    write_report([about.parent], tmp_path / "report.html", verdicts=tmp_path / "docs/gallery/claims.csv")
    page = Page((tmp_path / "report.html").read_text())
    assert "✓ held in the gallery Evidence: " in " ".join("".join(page.text).split())
    assert page.links.count("docs/gallery.md") > 1
