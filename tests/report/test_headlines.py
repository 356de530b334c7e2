"""Headlines: the files of the atlas, wrong files, and the one verdict over interpretations and parts."""

import csv
import functools
import itertools
import math
import re
from dataclasses import asdict

import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.io.files import write_json
from fedatlas.publish.report import attacks, gallery, tally
from fedatlas.publish.report.cards import (
    SIGNS,
    GalleryState,
    judge_part,
    judge_sentence,
    make_cards,
)
from fedatlas.publish.report.facts_builder import build_facts
from fedatlas.publish.report.headlines import FOLDER, LEVELS, NOT_RUN, read_headlines
from fedatlas.publish.report.page import write_report
from fedatlas.publish.tracking import page as mlflow_page
from fedatlas.records.lookup import record_paths
from fedatlas.registry.bibliography import reference
from fedatlas.results.claims.verdicts import EQUAL, HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, UNTESTED, VACUOUS
from fedatlas.results.comparing.published import read_table
from fedatlas.workflow.published_cards import published_cards
from fedatlas.workflow.study import Study
from tests.report.sample import experiment, results, view
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
    import pandas as pd

    pairs = zip(("first", "second"), verdicts, strict=False)
    rows = [("made_up", size, name, "It is.", "", "Figure 1", "", "3 times", word, "5") for name, word in pairs]
    return pd.DataFrame(rows, columns=COLUMNS)


def markdown(card, found=()):
    """The text of a card on the page of its paper."""
    page = gallery.create_markdown_environment().get_template("cards.md")
    shown = {**card, "attack": attacks.card_text(card, found)}
    return page.render(paper=asdict(reference("yuan2020")), links=[], cards=[shown])


def state(frame, **changes):
    fields = {"figures": {}, "unrecorded": set(), "scores": {}, "points": {}, "hours": {"made_up": 12.0}}
    return GalleryState(frame.to_dict("records"), **{**fields, **changes})


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
            if headline.beside:
                assert set(headline.beside.settings) <= set(read_table(headline.beside.table)["group"])
                assert set(read_table(headline.beside.table)["algorithm"]) <= set(
                    load(headline.beside.experiment).algorithms
                )


def test_no_quote_leaves_out_words(papers):
    quotes = {f"{paper.name}/{name}": line.quote for paper in papers for name, line in paper.headlines.items()}
    ellipses = {name: "what it leaves out" for name, quote in quotes.items() if "…" in quote or "..." in quote}
    assert ellipses == {}  # words that are left out may be a condition or a part of the claim


def test_every_sentence_of_an_abstract_has_a_card_a_claim_or_a_reason(papers, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    study, tested = Study.open(), 0
    for paper in papers:
        assert sum(sentence.place == "Abstract" for sentence in paper.sentences) >= 5
        for sentence in paper.sentences:
            assert set(sentence.cards) <= set(paper.headlines), sentence
            for claim in sentence.claims:
                name, _, key = claim.partition("/")
                assert key in study.files.load(name, "laptop").claims, claim
            tested += bool(sentence.cards or sentence.claims)
    assert tested > 25
    sentence = {"text": "It is.", "place": "Abstract"}
    headlines = {"paper": "yuan2020", "headlines": {"one": HEADLINE}}
    for wrong, words in ((sentence, "needs a reason"), ("It is.", "must be a mapping")):
        (tmp_path / "x.yaml").write_text(yaml.safe_dump({**headlines, "sentences": [wrong]}))
        with pytest.raises(UserError, match=words):
            read_headlines(tmp_path)


def test_the_page_of_sentences_names_cards_with_their_verdicts(papers):
    deck = make_cards(papers, state(claims()))
    page = gallery.create_markdown_environment().get_template("sentences.md")
    content = {"papers": papers, "cards": {card["id"]: card for card in deck}, "pages": {"fedspeed_interval"}}
    lines = page.render(content).splitlines()
    assert sum(line.startswith("## ") for line in lines) == len(papers)
    (row,) = (line for line in lines if "only requires" in line)
    assert "[M^(1/3) rounds](fedac.md): not run" in row.replace("\\", "")
    page = "\n".join(lines).replace("\\", "")
    assert "fedspeed_ablation/correction: not run" in page and "(fedspeed_ablation.md)" not in page


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
    (card,) = make_cards(papers, state(claims(HELD, HELD)))
    assert (card["verdict"], card["words"], card["level"], card["here"]) == (HELD, HELD, "same", "3 times")
    assert card["method"] == "FedAc" and card["quote"] == "It is better."
    (card,) = make_cards(papers, state(claims(HELD, NOT_HELD)))
    assert card["verdict"] == UNDECIDED
    text = markdown(card)
    assert "**? undecided**" in text and "| all of it | It is. (Figure 1)" in text


def test_a_card_says_what_the_attack_found_on_the_statement_that_it_names(tmp_path):
    (card,) = make_cards(written(tmp_path, place="Section 2; Theorems 1 and 4"), state(claims(HELD, HELD)))
    names = ["Theorem 4 (b), corrected", "Theorem 4, as printed", "Theorem 2", "Lemma 4"]
    found = [{"experiment": "made_up", "statement": s, "share": "0.25", "draws": "8", "erratum": ""} for s in names]
    found[1]["erratum"] = "theorem"
    text = "Theorem 4 (b), corrected: at worst 25 % of the bound, in 8 draws; Theorem 4, as printed: false"
    assert f"| Attack | {text} ([erratum](../errata/theorem.md)) |" in markdown(card, found)
    assert "| Attack |" not in markdown(card)


def test_a_substitute_does_not_test_a_sentence(tmp_path):
    papers = written(tmp_path, evidence={"smoke": "substitute"}, substitute="LeNet")
    (card,) = make_cards(papers, state(claims(HELD, HELD)))
    assert (card["verdict"], card["words"]) == (UNTESTED, "not tested (on LeNet: held)")


def test_a_card_counts_its_parts(tmp_path):
    parts = {"one": ["made_up/first"], "two": ["made_up/second"]}
    (card,) = make_cards(written(tmp_path, parts=parts), state(claims(HELD, NOT_HELD)))
    assert (card["verdict"], card["shares"]) == (NOT_HELD, "1 of 2 held, 1 not held")
    assert "| Parts | 1 of 2 held, 1 not held |" in markdown(card)
    tally.draw_tally([card], tmp_path / "tally.svg")
    assert "1 ✓  1 ✗" in (tmp_path / "tally.svg").read_text()
    (card,) = make_cards(written(tmp_path, parts=parts), state(claims(HELD)))
    assert (card["verdict"], card["shares"]) == (UNDECIDED, "1 of 2 held, 1 not tested")
    (card,) = make_cards(written(tmp_path), state(claims(HELD)))
    assert not card["shares"]


def test_a_vacuous_part_is_not_called_untested(tmp_path):
    parts = {"one": ["made_up/first"], "two": ["made_up/second"], "three": []}
    (card,) = make_cards(written(tmp_path, parts=parts), state(claims(HELD, VACUOUS)))
    assert (card["verdict"], card["shares"]) == (UNDECIDED, "1 of 3 held, 1 vacuous, 1 not tested")
    assert "| Not tested | three; two (vacuous) |" in markdown(card)
    tally.draw_tally([card], tmp_path / "tally.svg")
    assert "1 ✓  1 ∅  1 –" in (tmp_path / "tally.svg").read_text()


def test_what_is_no_part_of_a_sentence_leaves_it_held_and_is_named(tmp_path):
    (card,) = make_cards(written(tmp_path, outside={"that it is so because of K": "a cause"}), state(claims(HELD)))
    assert card["verdict"] == HELD
    assert "| Not tested | that it is so because of K (a cause) |" in markdown(card)


def test_what_came_out_elsewhere_stands_beside_the_verdict(tmp_path):
    changes = {"parts": {"all": ["made_up/first"]}, "elsewhere": {"on other data": "made_up/second"}}
    (card,) = make_cards(written(tmp_path, **changes), state(claims(HELD, NOT_HELD)))
    assert (card["verdict"], card["words"]) == (HELD, "held; on other data: not held")
    assert "| Elsewhere | on other data: 3 times, not held ([made_up](made_up.md)) |" in markdown(card)
    (card,) = make_cards(written(tmp_path, **changes), state(claims(HELD)))
    assert (card["words"], card["elsewhere"]) == ("held", [])


def test_outcomes_are_shown_where_the_record_has_them_alone(tmp_path):
    papers = written(tmp_path, outcome="It is faster.", not_run={"Figure 9": "made_up"})
    (card,) = make_cards(papers, state(claims(HELD)))
    assert "| Outcome | It is faster. |" in (text := markdown(card)) and "| Tried |" in text
    for frame, lacking in ((claims(), set()), (claims(HELD), {"made_up"})):
        (card,) = make_cards(papers, state(frame, unrecorded=lacking))
        assert "faster" not in markdown(card)
    (card,) = make_cards(papers, state(claims()))
    assert "| Plan | Everything. |" in markdown(card)


def test_no_card_is_held_of_which_a_part_is_not_tested(committed, papers):
    silent = {
        f"{paper.name}/{name}"
        for paper in papers
        for name, line in paper.headlines.items()
        if [] in line.parts.values()
    }
    assert len(silent) > 8
    for card in committed:
        if {part["verdict"] for part in card["parts"]} & {UNTESTED, VACUOUS} or card["id"] in silent:
            assert card["verdict"] not in (HELD, EQUAL), card["id"]


CAME_OUT = re.compile(
    r"\b(?:is|are|was|were) (?:\w+ )?(?:ahead|behind|slower|faster)\b|\bdiverges\b|\bstays (?:at|near|below|above)\b"
    r"|\bwas seen\b|\bwere seen\b|\bdoes not attain\b"
)


def test_texts_on_what_nobody_ran_say_no_outcome(papers, committed, monkeypatch):
    """What is not in the record is not on a page."""
    monkeypatch.chdir(ROOT)
    study = Study.open()
    silent = {card["id"] for card in committed if card["verdict"] == NOT_RUN}
    texts = [
        line.tried for paper in papers for name, line in paper.headlines.items() if f"{paper.name}/{name}" in silent
    ]
    held = {name for _, name in record_paths(study)}
    for name in sorted({name for _, name in study.gallery()} - held):
        experiment = study.files.load(name, "laptop")
        texts += [experiment.description, *experiment.notes]
        texts += [text for claim in experiment.claims.values() for text in (claim.note, claim.interpretation) if text]
    assert len(texts) > 150
    assert [text for text in texts if CAME_OUT.search(text)] == []


@pytest.mark.parametrize(
    ("seeds", "p", "verdict", "marked"),
    [("5", "0.01", HELD, True), ("6", "0.01", HELD, False), ("5", "", HELD, False), ("5", "0.4", UNDECIDED, False)],
)
def test_verdicts_that_rest_on_normal_noise_are_marked(tmp_path, seeds, p, verdict, marked):
    frame = claims(verdict, verdict).assign(seeds=seeds, p=p)
    (card,) = make_cards(written(tmp_path), state(frame))
    text = markdown(card)
    assert card["normal"] == marked == (f"| {seeds} (t) |" in text) == ("| Noise | taken as normal" in text)
    tally.draw_tally([card], tmp_path / "tally.svg")
    assert ("(t)" in (tmp_path / "tally.svg").read_text()) == marked


@pytest.mark.parametrize(("ours", "words"), [(0.65, "for the paper's"), (0.68, "as the paper's")])
def test_a_number_stands_apart_from_the_verdict(tmp_path, ours, words):
    import pandas as pd

    number = {"experiment": "made_up", "algorithm": "a", "than": "b", "points": 3.46}
    scores = pd.DataFrame({"algorithm": ["a", "b"], "score": [ours, 0.64], "score_sd": [0.01] * 2, "seeds": [5] * 2})
    changes = {"number": number, "evidence": {"smoke": "substitute"}, "substitute": "LeNet"}
    (card,) = make_cards(written(tmp_path, **changes), state(claims(HELD, HELD), scores={"made_up": scores}))
    assert card["words"].startswith("not tested (on LeNet: held; ") and f"{words} 3.46)" in card["words"]
    (card,) = make_cards(written(tmp_path, **changes), state(claims(HELD, HELD)))
    assert card["words"] == "not tested (on LeNet: held)"


def test_what_has_no_results_is_not_run_and_has_its_price(tmp_path):
    (card,) = make_cards(written(tmp_path, not_run={"Figure 9": "made_up"}), state(claims()))
    assert (card["verdict"], card["level"], card["prices"]) == (NOT_RUN, NOT_RUN, [["Figure 9", "made_up", 12.0]])
    assert "| Not run | Figure 9: about 12 hours of a processor" in markdown(card)


def test_published_points_stand_beside_results(tmp_path):
    import pandas as pd

    points = pd.DataFrame({"algorithm": ["a", "b"], "published": [1.0, 2.0], "score": [1.5, 2.0], "shown": [1.0, 2.0]})
    (card,) = make_cards(written(tmp_path), state(claims(HELD, HELD), points={"made_up": points}))
    assert "Beside the 2 points" in card["points"] and "is 1.25 times theirs in the median, 1 to 1.5" in card["points"]
    assert card["points"].endswith("it is 1 times theirs.")


def test_a_table_of_the_paper_stands_beside_results(tmp_path):
    import pandas as pd

    beside = {"table": "fedspeed_table1", "experiment": "made_up", "settings": {"i.i.d.": {}}}
    scores = pd.DataFrame({"algorithm": ["fedavg", "scaffold"], "score": [0.5, -math.inf]})
    (card,) = make_cards(written(tmp_path, beside=beside), state(claims(HELD, HELD), scores={"made_up": scores}))
    rows = {row[1]: row[2:] for row in card["beside"]}
    assert rows["method"][-1] == "here" and rows["FedAvg"] == ["77.01", "50.0"]
    assert rows["SCAFFOLD"] == ["80.11", "diverged"] and rows["FedCM"] == ["84.20", ""]


def test_report_and_mlflow_lead_with_the_cards_of_their_experiments(tmp_path):
    (tmp_path / "headlines").mkdir()
    spec, folder = experiment(), tmp_path / "results"
    cards = make_cards(written(tmp_path / "headlines", quote="It is <better>."), state(claims(HELD, HELD)))
    folder.mkdir()
    results(folder, spec)
    facts = build_facts(spec, view(spec), cards)
    assert build_facts(experiment("other"), view(spec), cards)["cards"] == []
    write_json(folder / "about.json", facts)
    write_report([folder], tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    assert html.index("It is &lt;better&gt;.") < html.index("<h4>Claims</h4>")
    assert (
        "“It is &lt;better&gt;.”" in html
        and "Evidence: the paper&#39;s model and data." in html
        and "Claims held" not in html
    )
    note = mlflow_page.note(facts, "1")
    assert "- **held**: “It is &lt;better\\>.” (Abstract; evidence: the paper's model and data)" in note


def test_a_card_says_what_the_record_lacks(tmp_path):
    frame = claims(HELD, HELD)
    (card,) = make_cards(written(tmp_path), state(frame, unrecorded={"made_up"}))
    assert "| Record | lacks made\\_up ([hours](../gallery.md#not-in-the-record)) |" in markdown(card)
    (card,) = make_cards(written(tmp_path), state(frame, unrecorded={"other"}))
    assert card["unrecorded"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quote": None}, "needs a value for 'quote'"),
        ({"quotes": "x"}, "has no option 'quotes'"),
        ({"evidence": {"smoke": "sure"}}, "unknown level of evidence 'sure'"),
        ({"evidence": {"huge": "same"}}, "unknown size 'huge'"),
        ({"evidence": {"smoke": "substitute"}}, "substitute must say which one"),
        ({"evidence": {"smoke": "not run"}}, "not_run must name an experiment"),
        ({"parts": {}}, "parts has no claim"),
        ({"parts": {"a": []}}, "parts has no claim"),
        ({"parts": {"a": "made_up/first"}}, "must be a list of EXPERIMENT/CLAIM"),
        ({"elsewhere": {"on other data": "first"}}, "elsewhere has 'first'"),
        ({"beside": {"table": "x", "experiment": "e", "settings": {"a": {}}}}, "unknown published table 'x'"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, changes, words):
    with pytest.raises(UserError, match=words) as error:
        written(tmp_path, **changes)
    assert str(tmp_path / "x.yaml") in str(error.value)


def test_a_size_without_a_level_of_evidence_is_an_error(tmp_path):
    with pytest.raises(UserError, match="x/one has results of size paper"):
        make_cards(written(tmp_path), state(claims(HELD, HELD, size="paper")))
