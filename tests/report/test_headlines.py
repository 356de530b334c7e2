"""Headlines: the files of the atlas, wrong files, and the one verdict over interpretations and parts."""

import csv
import functools
import itertools
from dataclasses import asdict

import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.publish.report import gallery
from fedatlas.publish.report.cards import (
    FOLDER,
    LEVELS,
    NOT_RUN,
    SIGNS,
    judge_part,
    judge_sentence,
    make_cards,
    read_headlines,
)
from fedatlas.registry.bibliography import reference
from fedatlas.results.claims.verdicts import EQUAL, HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, UNTESTED, VACUOUS
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import published_cards
from tests.workflow.project import ROOT

HEADLINE = {
    "title": "Better",
    "quote": "It is\n  better.",
    "place": "Abstract",
    "parts": {"all of it": ["made_up/first", "made_up/second"]},
    "evidence": {"smoke": "same"},
    "tried": "Everything.",
}


COLUMNS = ("experiment", "size", "claim", "text", "interpretation", "source", "paper", "ours", "verdict", "seeds")


@pytest.fixture(scope="module")
def papers():
    return read_headlines(ROOT / FOLDER)


@pytest.fixture(scope="module")
def committed():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return published_cards(Study.open())


def written(folder, **changes):
    """Write a file of one headline with some keys changed, and read it."""
    headline = {key: value for key, value in {**HEADLINE, **changes}.items() if value is not None}
    (folder / "x.yaml").write_text(yaml.safe_dump({"paper": "yuan2020", "headlines": {"one": headline}}))
    return read_headlines(folder)


def claims(*verdicts, size="smoke"):
    pairs = zip(("first", "second"), verdicts, strict=False)
    rows = [("made_up", size, name, "It is.", "", "Figure 1", "", "3 times", word, "5") for name, word in pairs]
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def markdown(card):
    """The text of a card on the page of its paper."""
    page = gallery.create_markdown_environment().get_template("cards.md")
    return page.render(paper=asdict(reference("yuan2020")), links=[], cards=[{**card, "attack": ""}])


def test_headlines_name_claims_figures_and_experiments_that_exist(papers, monkeypatch):
    monkeypatch.chdir(ROOT)
    study = Study.open()
    load = functools.cache(lambda name: study.files.load(name, "laptop"))

    for paper in papers:
        claims = [claim for headline in paper.headlines.values() for claim in headline.claims]
        claims += [claim for finding in paper.findings.values() for claim in finding.claims]
        for claim in claims:
            name, _, key = claim.partition("/")
            assert key in {**load(name).claims, **study.files.load(name, "paper").claims}, claim
        for headline in paper.headlines.values():
            if headline.figure:
                name, _, key = headline.figure.partition("/")
                assert key in load(name).figures, headline.figure


def test_committed_cards_say_what_the_gallery_holds(committed, papers):
    with open(ROOT / "docs/gallery/claims.csv", newline="") as file:
        rows = {(row["experiment"], row["claim"], row["size"]): row["ours"].lstrip("'") for row in csv.DictReader(file)}
    assert len(committed) == sum(len(paper.headlines) for paper in papers)
    for card in committed:
        assert card["verdict"] in SIGNS and card["level"] in LEVELS
        for part in card["parts"]:
            for row in part["rows"]:
                assert rows[row["experiment"], row["claim"], row["size"]] == row["ours"].lstrip("'")
        if card["here"]:
            assert any(card["here"].endswith(row["ours"]) for part in card["parts"] for row in part["rows"])
        if card["level"] == "substitute":
            assert card["words"].startswith("not tested (on ")
        if card["level"] == NOT_RUN:
            assert all(price > 0 for _, _, price in card["prices"]) and (card["prices"] or card["parts"])


@pytest.mark.parametrize(
    ("interpretations", "verdict"),
    [
        ([HELD], HELD),
        ([MORE, HELD], HELD),
        ([HELD, NOT_HELD], UNDECIDED),
        ([HELD, UNDECIDED], UNDECIDED),
        ([NOT_HELD, NOT_HELD], NOT_HELD),
        ([EQUAL, EQUAL], EQUAL),
        ([HELD, EQUAL], UNDECIDED),
        ([HELD, VACUOUS, NOT_TESTED, UNTESTED], HELD),
        ([VACUOUS], VACUOUS),
        ([VACUOUS, NOT_TESTED], VACUOUS),
        ([], UNTESTED),
    ],
)
def test_interpretations_that_differ_leave_a_part_undecided(interpretations, verdict):
    for order in itertools.permutations(interpretations):
        assert judge_part(order) == verdict


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([HELD, HELD], HELD),
        ([HELD, NOT_HELD, UNDECIDED], NOT_HELD),
        ([HELD, UNDECIDED], UNDECIDED),
        ([HELD, UNTESTED], UNDECIDED),
        ([HELD, VACUOUS], UNDECIDED),
        ([NOT_HELD, UNTESTED], NOT_HELD),
        ([VACUOUS, UNTESTED], UNTESTED),
        ([VACUOUS], VACUOUS),
        ([HELD, EQUAL], EQUAL),
        ([UNTESTED, UNTESTED], UNTESTED),
        ([], UNTESTED),
    ],
)
def test_the_worst_part_decides_a_sentence(parts, verdict):
    assert judge_sentence(parts) == verdict


def test_a_card_has_level_verdict_and_results(tmp_path):
    papers = written(tmp_path)
    (card,) = make_cards(papers, claims(HELD, HELD), set(), {})
    assert (card["verdict"], card["words"], card["level"], card["here"]) == (HELD, HELD, "same", "3 times")
    assert card["method"] == "FedAc" and card["quote"] == "It is better."
    (card,) = make_cards(papers, claims(HELD, NOT_HELD), set(), {})
    assert card["verdict"] == UNDECIDED
    text = markdown(card)
    assert "**? undecided**" in text and "| all of it | It is. (Figure 1)" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quote": None}, "needs a value for 'quote'"),
        ({"quotes": "x"}, "has no option 'quotes'"),
        ({"evidence": {"smoke": "sure"}}, "unknown level of evidence 'sure'"),
        ({"evidence": {"huge": "same"}}, "unknown size 'huge'"),
        ({"evidence": {"smoke": "substitute"}}, "substitute must say which one"),
        ({"parts": {"a": "made_up/first"}}, "must be a list of EXPERIMENT/CLAIM"),
        ({"elsewhere": {"on other data": "first"}}, "elsewhere has 'first'"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, changes, words):
    with pytest.raises(UserError, match=words) as error:
        written(tmp_path, **changes)
    assert str(tmp_path / "x.yaml") in str(error.value)
