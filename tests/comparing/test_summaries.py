"""Standings in plain words."""

import math

import pytest

from fedatlas.results.comparing.intervals import Sample
from fedatlas.results.comparing.pairwise import Gap, Standing
from fedatlas.results.comparing.summaries import bracket_name, join_names, summarize_problem, summarize_problems

ROUNDS = "communication rounds"


def at(state, values=(), attained=3, seeds=3, log=True):
    return Standing(state, Gap(*[Sample(values, log)] * 3) if values else None, 0.05, attained, seeds)


BEST = at("best", (1.0, 1.0, 1.0))
NEAR = at("near", (0.9, 1.1, 1.2))
WORSE = at("worse", (2.0, 2.1, 2.2))


def sentence(standings, cost="rounds", **options):
    return summarize_problem(standings, ROUNDS, cost, **options)


def test_a_sentence_says_what_the_intervals_carry():
    standings = {
        "A": NEAR,
        "B": BEST,
        "C": WORSE,
        "D": at("never", attained=0),
        "E": at("diverged"),
        "F": at("undefined"),
    }
    assert sentence(standings) == (
        "B and A are within noise of the best in communication rounds; C needs 2.1 (1.86 to 2.36) times as many; "
        "D never attains the target; E diverges; F is not defined"
    )


def test_one_alone_is_the_best():
    assert sentence({"A": BEST, "C": WORSE}).startswith("A is the best in communication rounds; C needs")


def test_of_many_the_nearest_are_named():
    standings = {"A": BEST} | {f"W{k}": at("worse", (2.0 + k, 2.1 + k, 2.2 + k)) for k in range(6)}
    text = sentence(standings, count=2)
    assert "W0 needs 2.1 (1.86 to 2.36)" in text and "W1 needs 3.1" in text and "W2" not in text
    assert text.endswith("4 others need at least 3.86 times as many")
    assert "W2 needs" in sentence(dict(list(standings.items())[:4]), count=2)  # one more needs no summary


def test_one_seed_has_no_interval():
    alone = {"A": at("best", (1.0,), 1, 1), "B": at("near", (3.0,), 1, 1)}
    assert sentence(alone) == "A is ahead in communication rounds, with one seed, which has no interval"


def test_nobody_attains():
    assert sentence({"A": at("never"), "B": at("never"), "C": at("undefined")}) == (
        "no algorithm attains the target; C is not defined"
    )


def test_seeds_that_do_not_attain_are_told():
    text = sentence({"A": BEST, "B": at("near", (0.9, math.inf, 1.5), 2), "C": at("worse", (3.0, math.inf, 4.0), 2)})
    assert "A and B (with 2 of 3 seeds) are within noise" in text
    assert "C (with 2 of 3 seeds) needs at least 3 times as many" in text


def test_few_seeds_do_not_make_the_best():
    text = sentence({"A": at("best", (1.0, 1.0, 1.0), 1), "B": at("never", attained=0)})
    assert text == "A alone attains the target, with 1 of 3 seeds; B never attains the target"


def test_an_end_that_excludes_1_is_not_written_as_1():
    text = sentence({"A": BEST, "B": at("worse", (1.0020, 1.0021, 1.0022))})
    assert "(1.002 to 1.002)" in text and "(1 to" not in text


@pytest.mark.parametrize(
    ("cost", "log", "phrase"),
    [("seconds", True, "times as long"), ("simulated_seconds", True, "times as long"), ("gradients", True, "as many"),
     (None, True, "C is 2.1 (1.86 to 2.36) times as large"), (None, False, "C is 2.1 (1.85 to 2.35) behind")],
)  # fmt: skip
def test_what_is_compared_has_its_words(cost, log, phrase):
    assert phrase in sentence({"A": BEST, "C": at("worse", (2.0, 2.1, 2.2), log=log)}, cost=cost, log=log)


def test_scores_that_diverge():
    assert summarize_problem({"A": at("diverged", attained=0)}, "best loss", None) == "all diverge; A diverges"


def test_lists():
    assert join_names(["A"]) == "A" and join_names(["A", "B", "C"]) == "A, B and C"
    assert join_names([f"A{k}" for k in range(10)]).endswith("A6 and 3 others")
    assert bracket_name("FedSpeed, z") == "FedSpeed (z)" and bracket_name("FedAvg") == "FedAvg"


def test_the_summary_counts_problems():
    never = at("never")
    result = [
        {"A": BEST, "B": NEAR, "C": WORSE},
        {"A": BEST, "B": WORSE, "C": WORSE},
        {"A": never, "B": never, "C": never},
    ]
    assert summarize_problems(result) == (
        "of 3 problems, A is within noise of the best on 2 (alone on 1), B on 1; C on none; "
        "nobody attains the target on 1"
    )
