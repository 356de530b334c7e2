"""references.bib of a study joins the bibliography: papers of experiments, and what own algorithms cite."""

import pytest

from fedatlas.cli.main import main
from fedatlas.cli.show import describe
from fedatlas.errors import UserError
from fedatlas.experiments import expansion
from fedatlas.publish.report.facts_builder import build_facts
from fedatlas.registry import bibliography
from fedatlas.workflow.validation import validate
from tests.extensions.files import ALGORITHM
from tests.synthetic import experiment

ENTRY = "@article{me2026,\n  author = {Me, Myself and others}, title = {On {Tiny}},\n  journal = {J}, year = 2026}\n"
CITING = ALGORITHM.replace('label = "Tiny"', 'label = "Tiny"\n    cite = "me2026"')


@pytest.fixture
def study_with_paper(study):
    study({"references.bib": ENTRY, "extensions/tiny.py": CITING})


def make_experiment(**changes):
    content = {"paper": "me2026", "algorithms": {"tiny": {}}, "figures": {}, "claims": {}}
    return experiment(**content | changes)


def test_a_paper_of_the_study_is_that_of_an_experiment(study_with_paper):
    validate(make_experiment())
    result = build_facts(make_experiment(), expansion.create_view(make_experiment()))
    assert tuple(result["paper"][key] for key in ("title", "short", "authors")) == (
        "On Tiny",
        "Me et al.",
        "M. Me, et al.",
    )
    assert result["references"]["me2026"]["venue"] == "J" and "@article{me2026," in result["bibtex"]["me2026"]


@pytest.mark.parametrize("name", ["me2026", "tiny"])
def test_it_is_cited(study_with_paper, capsys, name):
    assert main(["cite", name]) == 0
    assert capsys.readouterr().out == ENTRY


def test_it_is_shown(study_with_paper):
    assert describe("tiny").endswith("journal = {J}, year = 2026}")


def test_an_algorithm_may_cite_nothing(study):
    study({"extensions/tiny.py": ALGORITHM})
    validate(make_experiment(paper="yuan2020"))
    assert "references" not in describe("tiny")


def test_an_algorithm_is_shown_while_its_reference_is_missing(study):
    study({"extensions/tiny.py": CITING.replace("me2026", "me2027"), "references.bib": ENTRY})
    head, *_, last = describe("tiny").splitlines()
    assert head.startswith("tiny (algorithm")
    assert last == "  references.bib has no entry 'me2027'; add one; did you mean 'me2026'?"


def test_an_algorithm_that_cites_no_entry_is_refused(study):
    study({"extensions/tiny.py": CITING.replace("me2026", "me2027"), "references.bib": ENTRY})
    complaint = (
        r"algorithm tiny \(extensions/tiny\.py\): references\.bib has no entry 'me2027'; add one; did you mean 'me2026'"
    )
    with pytest.raises(UserError, match=complaint):
        validate(make_experiment())


def test_a_paper_without_an_entry_is_refused_with_a_guess(study_with_paper):
    with pytest.raises(
        UserError, match=r"paper: references\.bib has no entry 'me202'; add one; did you mean 'me2026'\?"
    ):
        validate(make_experiment(paper="me202"))


def test_an_entry_without_a_title_is_refused_where_it_is_used(study):
    study({"references.bib": "\n@misc{me2026, year = 2026}\n"})
    assert bibliography.entry("yuan2020")
    with pytest.raises(UserError, match=r"paper: references\.bib, line 2: the entry me2026 has no title"):
        validate(make_experiment(algorithms={"fedavg": {}}))


def test_an_entry_of_the_atlas_may_be_repeated_and_not_replaced(study):
    text = bibliography.entry("yuan2020").text
    study({"references.bib": text.replace("  ", " ")})
    assert bibliography.entry("yuan2020").text == text
    bibliography._entries.cache_clear()
    study({"references.bib": f"\n{text.replace('Federated', 'Another')}"})
    with pytest.raises(
        UserError, match=r"references\.bib, line 2: 'yuan2020' is the key of another entry of the atlas"
    ):
        bibliography.entries()


def test_a_file_of_another_encoding_is_refused(study):
    folder = study({})
    (folder / "references.bib").write_bytes(ENTRY.replace("Me,", "Mé,").encode("latin-1"))
    with pytest.raises(UserError, match=r"references\.bib is not text in UTF-8"):
        bibliography.entries()
    (folder / "references.bib").write_bytes(b"\xef\xbb\xbf" + ENTRY.encode())
    assert bibliography.entry("me2026").kind == "article"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("@online{k, title={T}, date={2024-05-01}, url={https://a.b/c}}", ("", "2024", "https://a.b/c")),
        (
            "@misc{k, title={T}, eprint={2401.1}, archivePrefix={arXiv}}",
            ("arXiv:2401.1", "", "https://arxiv.org/abs/2401.1"),
        ),
        ("@article{k, title={T}, journaltitle={J}, doi={https://doi.org/1/2}}", ("J", "", "https://doi.org/1/2")),
        ("@phdthesis{k, title={T}, school={\\O{}stfold \\& Stra\\ss e}, year=2020}", ("Østfold & Straße", "2020", "")),
    ],
)
def test_styles_of_other_programs_are_read(study, entry, expected):
    study({"references.bib": entry})
    result = bibliography.reference("k")
    assert (result.venue, result.year, result.link) == expected
