"""The report: whole, self-contained and safe."""

import re
from html.parser import HTMLParser

import pytest

from fedatlas import figures
from fedatlas.checks import check
from fedatlas.errors import UserError
from fedatlas.experiments import result_files as files
from fedatlas.report import summaries
from fedatlas.report.page import prose, report

from .synthetic import build, decay, experiment

FIGURES = {"speed": {"kind": "scaling", "x": "clients", "panel": "local_steps", "caption": "Scores against M."}}
CLAIMS = {
    "first": {
        "text": "FedAc is <better> at K = 1.",
        "source": "Figure 1",
        "check": {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"], "where": {"local_steps": 1}},
    },
    "second": {
        "text": "It needs 1 round.",
        "source": "Appendix",
        "note": "It does not.",
        "check": {"kind": "first_round", "algorithm": "fedavg", "target": 0.5, "where": {"clients": 64}, "paper": 1},
    },
    "third": {
        "text": "Untested.",
        "source": "Table 1",
        "sizes": ["paper"],
        "check": {"kind": "reaches", "algorithms": ["fedavg"], "at_most": 1},
    },
}


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
def made(tmp_path_factory):
    """(experiment, root) with all files that a report needs."""
    root = tmp_path_factory.mktemp("results")
    made = experiment(figures=FIGURES, claims=CLAIMS)
    folder = root / "smoke/made_up"
    lost = {"local_steps": 8, "clients": 4}
    (root / "runs").mkdir()
    table, curves, about = build(made, root / "runs", decay, lambda id, point: id == "fedavg" and point == lost)
    files.write(folder / "table.parquet", table, about)
    files.write(folder / "curves.parquet", curves, about)
    figures.draw(FIGURES["speed"], about, table, curves, [folder / "figures/speed.svg"])
    check(made, table, curves).to_csv(folder / "claims.csv", index=False)
    return made, root


@pytest.fixture(scope="module")
def html(made):
    out = made[1] / "report.html"
    report([made[0]], made[1], out, repository="https://example.org/atlas")
    return out.read_text(encoding="utf-8")


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


def test_same_bytes_twice(made, html, tmp_path):
    report([made[0]], made[1], tmp_path / "again.html", repository="https://example.org/atlas")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == html


@pytest.mark.parametrize("gone", ["table.parquet", "claims.csv", "figures/speed.svg"])
def test_missing_files_are_named(made, tmp_path, gone):
    import shutil

    shutil.copytree(made[1] / "smoke", tmp_path / "smoke")
    (tmp_path / "smoke/made_up" / gone).unlink()
    with pytest.raises(UserError, match=re.escape(gone.removesuffix(".svg"))):
        report([made[0]], tmp_path, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_best_values(made):
    table, about = files.read(made[1] / "smoke/made_up/table.parquet")
    found = summaries.best_values(about, table)
    assert found["head"] == ["K", "M"] and found["columns"] == ["FedAvg", "FedAc-I"]
    cells = {tuple(row["setting"]): row["cells"] for row in found["rows"]}
    assert len(cells) == 6
    assert cells["8", "4"][0]["text"] == "diverged"
    assert [cell["best"] for cell in cells["1", "64"]] == [False, True]
    assert all(cell["edge"] for cell in cells["1", "64"])


def test_warnings_are_grouped(made):
    table, about = files.read(made[1] / "smoke/made_up/table.parquet")
    about["data"] = {"cifar10": {"lossy": "images were saved as JPEG"}}
    found = summaries.warnings(about, table)
    assert "FedAc-I: the best `lr` at its highest value of the grid in all 6 settings." in found
    assert "FedAvg diverged for every tuned value in 1 of 6 settings (K = 8, M = 4)." in found
    assert "The data set cifar10 is a lossy copy: images were saved as JPEG." in found
    assert len(found) <= 5


def test_choices_hold_a_row_for_each_setting_and_algorithm(made):
    table, about = files.read(made[1] / "smoke/made_up/table.parquet")
    found = summaries.choices(about, table)
    assert len(found["rows"]) == 12
    assert all(len(row) == len(found["head"]) for row in found["rows"])
    assert found["rows"][0][:3] == ["1", "4", "FedAvg"]


def test_parameters_say_where_values_come_from():
    made = experiment(algorithms=("fedac-1", "fedspeed"))
    made["algorithms"]["fedspeed"] = {"set": {"lam": 5}, "tune": {"rho": [0.1, 0.2], "lr": None}, "label": "Mine"}
    found = dict(summaries.parameters(made))
    assert [row[::2] for row in found["FedAc-I"]] == [("lr", "tuned: 0.1, 1"), ("mu", "the problem's")]
    values = {row[0]: row[2] for row in found["Mine"]}
    assert values["lam"] == "5" and values["rho"] == "tuned: 0.1, 0.2" and values["alpha"] == "0.9375"


def test_setup_is_that_of_the_size():
    found = dict(summaries.setup(experiment()))
    assert found["Problem"] == "logistic; data: breast_cancer; l2: 0.01"
    assert found["Varied"] == "local steps K in 1, 8; clients M in 4, 16, 64"


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
