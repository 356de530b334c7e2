"""The report: whole, self-contained and safe."""

import re
import shutil
from html.parser import HTMLParser

import pytest

from fedatlas.errors import UserError
from fedatlas.report import summaries
from fedatlas.report.about import about
from fedatlas.report.page import prose, report
from fedatlas.report.warnings import warnings
from tests.report.made import experiment, results, table, view


class Page(HTMLParser):
    """What a page holds: ids, links, resources, tags that are open at the end."""

    def __init__(self, html):
        super().__init__()
        self.ids, self.links, self.resources, self.open, self.text = [], [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        if tag == "a":
            self.links.append(given["href"])
        else:
            self.resources += [given[key] for key in ("src", "href", "data", "srcset", "poster") if key in given]
        if tag not in ("meta", "link", "img", "br"):
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
    report([folder], out, repository="https://example.org/atlas")
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def known():
    made = experiment()
    return about(made, view(made))


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
    sections += ("Claims", "Best values", "Chosen hyper-parameters and costs", "Meaning of the hyper-parameters")
    sections += ("Read these numbers with care", "Data", "Versions and fingerprints", "References", "BibTeX")
    for section in (*sections, "breast_cancer", "0123456789abcdef", "@inproceedings{mcmahan2017", "It does not."):
        assert section in text
    for verdict in ("held", "not held", "not tested at this size"):
        assert f"{verdict}" in text
    assert re.search(r"✓ held.*✗ not held.*– not tested at this size", text)


def test_it_needs_nothing_from_elsewhere(page, html):
    assert all(resource.startswith("data:") for resource in page.resources)
    assert len([r for r in page.resources if r.startswith("data:image/svg+xml;base64,")]) == 1
    assert "<script" not in html and "url(" not in html and "@import" not in html
    assert {link.split("/")[2] for link in page.links if link.startswith("http")} == {"arxiv.org", "example.org"}


def test_text_is_escaped(html):
    assert "Made up &amp; &lt; true" in html
    assert "FedAc is &lt;better&gt;" in html and "<better>" not in html


def test_same_bytes_twice(folder, html, tmp_path):
    report([folder], tmp_path / "again.html", repository="https://example.org/atlas")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == html


@pytest.mark.parametrize("gone", ["about.json", "table.parquet", "claims.csv", "figures/speed.svg"])
def test_missing_files_are_named(folder, tmp_path, gone):
    mine = shutil.copytree(folder, tmp_path / "made_up")
    (mine / gone).unlink()
    with pytest.raises(UserError, match=re.escape(gone.removesuffix(".svg"))):
        report([mine], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_only_the_folders_of_its_parts_are_read(folder, html, tmp_path, monkeypatch):
    """Neither the configuration nor another experiment is at hand where a report is made."""
    mine = shutil.copytree(folder, tmp_path / "alone")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fedatlas.kinds.Family.get", lambda *_: pytest.fail("a registry was asked"))
    report([mine], tmp_path / "report.html", repository="https://example.org/atlas")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html


def test_several_experiments_share_papers_references_and_data(folder, tmp_path):
    other = tmp_path / "laptop/made_up"
    results(other, experiment(paper="xiang2024", notes=[]))
    report([folder, other, folder], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.count('<section class="paper"') == 2 and text.count("<article") == 3
    assert text.count("@inproceedings{mcmahan2017") == text.count('id="ref-mcmahan2017"') == 1
    assert text.count("<b>breast_cancer</b>") == 1


def test_best_values(known):
    found = summaries.best_values(known, table())
    assert found["head"] == ["K", "M"] and found["columns"] == ["FedAvg", "FedAc-I"]
    cells = {tuple(row["setting"]): row["cells"] for row in found["rows"]}
    assert len(cells) == 6
    assert cells["8", "4"][0]["text"] == "diverged"
    assert [cell["best"] for cell in cells["1", "64"]] == [False, True]
    assert [cell["edge"] for cell in cells["1", "64"]] == [False, True]


def test_warnings_are_grouped(known):
    data = {"cifar10": {"lossy": "images were saved as JPEG"}}
    found = warnings(known, table(), data)
    assert "FedAc-I: the best `lr` at its highest value of the grid in all 6 settings." in found
    assert "FedAvg diverged for every tuned value in 1 of 6 settings (K = 8, M = 4)." in found
    assert "The data set cifar10 is a lossy copy: images were saved as JPEG." in found
    assert len(found) == 3


def test_choices_hold_a_row_for_each_setting_and_algorithm(known):
    found = summaries.choices(known, table())
    assert len(found["rows"]) == 12
    assert all(len(row) == len(found["head"]) for row in found["rows"])
    assert found["rows"][0][:3] == ["1", "4", "FedAvg"]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("r^0.75 and u_i", "r<sup>0.75</sup> and u<sub>i</sub>"),
        ("eta_l >= 1.0e-3", "η<sub>l</sub> ≥ 10⁻³"),
        ("slope -1, K-1", "slope −1, K-1"),
        ("`eta_l` <b>", "<code>eta_l</code> &lt;b&gt;"),
        ("local_steps, beta2, a9a", "local_steps, beta2, a9a"),
        ("|x - u_i|^2 / 2", "|x - u<sub>i</sub>|<sup>2</sup> / 2"),
    ],
)
def test_prose(text, html):
    assert prose(text) == html
