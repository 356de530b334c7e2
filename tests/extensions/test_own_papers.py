"""references.bib of a study joins the bibliography: papers of experiments, and what own algorithms cite."""

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import expansion
from fedatlas.publish.report.facts import build_facts
from fedatlas.workflow.configuration import validate
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


def test_an_algorithm_that_cites_no_entry_is_refused(study):
    study({"extensions/tiny.py": CITING.replace("me2026", "me2027"), "references.bib": ENTRY})
    complaint = (
        r"algorithm tiny \(extensions/tiny\.py\): references\.bib has no entry 'me2027'; add one; did you mean 'me2026'"
    )
    with pytest.raises(UserError, match=complaint):
        validate(make_experiment())
