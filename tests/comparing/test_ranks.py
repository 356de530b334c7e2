"""The place of one algorithm among its rivals, and the sentence about it."""

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from fedatlas.publish.comparison.numbers import write_sentence
from fedatlas.results.comparing.intervals import LEVEL, MATTERS, share_interval
from fedatlas.results.comparing.pairwise import MEANINGFUL, compare_pair, won
from fedatlas.results.comparing.ranks import probability_of_improvement, rank_algorithms, rank_on_problems

from .fixtures import make_board

INF, NAN = math.inf, math.nan


def board_of(losses):
    """A board of scores (algorithms, problems, seeds)."""
    return make_board(np.asarray(losses, float)[:, :, None])


@given(st.integers(0, 40), st.integers(1, 20))
def test_the_interval_of_a_share_inverts_the_binomial_test(doubled_wins, pairs):
    wins = min(doubled_wins, 2 * pairs) / 2
    low, high = share_interval(wins, pairs, LEVEL)
    assert 0 <= low <= wins / pairs <= high <= 1
    if wins == int(wins):
        interval = stats.binomtest(int(wins), pairs).proportion_ci(0.95, "exact")
        np.testing.assert_allclose((low, high), interval, atol=1e-9)


@pytest.mark.parametrize("change", [0.0, 2e-15, 0.04])
def test_a_twin_is_a_tie_on_every_problem(change):
    """Every score of the twin is larger than that of its original, by less than what matters."""
    losses = np.random.default_rng(0).lognormal(size=(1, 3, 15))
    board = board_of(np.concatenate([losses, losses * (1 + change)]))
    for place in rank_on_problems(board, "a1"):
        comparison = place.comparisons["a0"]
        value, low, high = comparison.won
        assert value == 0.5 and low < 0.5 < high and comparison.side == "even"
        assert place.state == "near" and place.rank.value == 1.5
    share = probability_of_improvement(board)["a1", "a0"].value
    assert share == 0.5


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_ratios_within_what_matters_are_ties(ours, theirs):
    ratio = max(ours, theirs) / min(ours, theirs)
    share = float(won(np.array(ours), np.array(theirs)))
    assert share == (0.5 if ratio <= 1 + MATTERS + 1e-12 else float(ours < theirs)) or ratio == pytest.approx(1.05)
    assert share + float(won(np.array(theirs), np.array(ours))) == 1


@pytest.mark.parametrize(
    "ours, theirs, side",
    [
        ([1, 2, 3, 4, 5, 6], [2, 4.1, 6, 8, 10, 12], "ahead"),
        ([2, 4.1, 6, 8, 10, 12], [1, 2, 3, 4, 5, 6], "behind"),
        ([1, 2, 3], [INF, INF, INF], "ahead"),
        ([INF, INF, INF], [INF, INF, INF], "even"),
        # seven of nine pairs are lost at least, and the sign test needs eight: a diverged run is lost, a tie is not
        ([4, 4, 4, 4, 4, 4, 4, INF, 1], [1, 2, 3, 1, 2, 3, 1, 2, 3], "behind"),
        ([4, 4, 4, 4, 4, 4, 4, INF, 1], [1, 2, 3, 1, 2, 3, 1, INF, 3], "even"),
        ([4, 4, 4, 4, 4, 4, 4, 4, INF], [1, 2, 3, 1, 2, 3, 1, 2, INF], "behind"),
        # too few for a sign test, and no mean
        ([INF, 4, 4, 4], [1, 2, 3, 1], "even"),
        ([1], [2], "even"),
        # significant and not meaningful: two of three runs are won, by a ratio that hardly varies
        ([1.0, 1.0, 1.0] * 8, [1.1, 1.1, 0.99] * 8, "even"),
    ],
)
def test_a_side_needs_a_difference_that_is_significant_and_meaningful(ours, theirs, side):
    assert compare_pair(board_of([[ours], [theirs]]), 0, 1, 0).side == side


def test_behind_one_of_several_rivals_has_a_smaller_level():
    board = board_of([[[1.1, 1.12, 1.3, 1.2, 1.05, 1.4]], [[1.0] * 6]])
    assert [compare_pair(board, 0, 1, 0, rivals=rivals).side for rivals in (1, 2)] == ["behind", "even"]


def test_the_place_on_a_problem_counted_by_hand():
    board = board_of([[[1, 1.1, 1.0]], [[2, 2.1, 2.2]], [[0.5, 0.5, 8]], [[NAN] * 3]])
    (place,) = rank_on_problems(board, "a0")
    assert place.rival == "a2" and list(place.comparisons) == ["a1", "a2"]
    np.testing.assert_allclose(place.score, 1.1 ** (1 / 3))
    np.testing.assert_allclose(place.rival_score, (0.5 * 0.5 * 8) ** (1 / 3))
    assert place.rank == (1, 1, 2)
    assert place.comparisons["a2"].won.value == 1 / 3
    (undefined,) = rank_on_problems(board, "a3")
    assert undefined.state == "undefined" and not undefined.comparisons and undefined.rank is None


def test_of_many_equal_algorithms_one_is_seldom_said_to_be_behind_the_best():
    rng, said = np.random.default_rng(0), 0
    for _ in range(100):
        board = board_of(rng.lognormal(size=(12, 3, 9)))
        said += any(place.is_behind_best for place in rank_on_problems(board, "a0"))
    assert said <= 11  # the 99th percentile of a binomial count with 100 and 0.05


def test_algorithms_are_ranked():
    assert rank_algorithms(make_board([[[[30]]], [[[10]]], [[[INF]]], [[[20]]]])) == [1, 3, 0, 2]
    assert rank_algorithms(make_board([[[[-0.3]]], [[[-0.9]]], [[[NAN]]]], log=False)) == [1, 0, 2]


TITLES = ["Hessians alike", "Noise, 1 sample", "Softmax", "Network", "Plays"]


def problems_of(text, defined):
    """The problems that a part names, or how many there are."""
    if match := re.fullmatch(r"(all )?(\d+)(?: of \d+)? problems", text):
        return defined if match[1] else int(match[2])
    return [at for at, title in enumerate(TITLES) if title in text.replace(" (1 sample)", ", 1 sample")]


@settings(max_examples=60)
@given(
    st.integers(2, 5),
    st.integers(1, 5),
    st.integers(1, 15),
    st.floats(0, 3),
    st.floats(0, 2),
    st.sampled_from([0.0, 0.05, 0.4]),
    st.integers(0, 2**32 - 1),
)
@example(2, 2, 9, 0.75, 1.5, 0.05, 16087)  # of nine runs seven are lost, one diverges and one is won
@example(2, 1, 2, 0.0, 0.0, 1.0, 0)  # all runs of all diverge
def test_the_sentence_is_never_stronger_than_its_numbers(algorithms, problems, seeds, effect, noise, rate, seed):
    """Nor weaker: every part names the problems that tests of SciPy find in the losses, of which a share diverges."""
    rng = np.random.default_rng(seed)
    losses = np.exp(
        effect * rng.normal(size=(algorithms, problems, 1)) + noise * rng.normal(size=(algorithms, problems, seeds))
    )
    losses[rng.random(losses.shape) < rate] = INF
    losses[(rng.random(losses.shape[:2]) < 0.1)] = NAN
    places = dict(zip(TITLES, rank_on_problems(board_of(losses), "a0", ["a1"]), strict=False))
    text = write_sentence("Mine", places, {f"a{k}": f"a{k}" for k in range(algorithms)}, ["a1"])
    defined = [p for p in range(problems) if not np.isnan(losses[0, p]).all()]
    if not defined:
        assert text == "Mine is not defined on any of these problems"
        return

    def advantages(rival, p):
        """By how much ours is better on each instance; nothing where both runs diverge."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(losses[0, p] == losses[rival, p], 0, np.log(losses[rival, p] / losses[0, p]))

    def sign_test(values):
        """The p-value of the sign test, in which ties count for the smaller side."""
        return stats.binomtest(int((values > 0).sum()), len(values)).pvalue if (values > 0).mean() > 0.5 else 1.0

    def wins(values, level):
        """Whether a test and the count of runs bear that numbers are positive: Student's t test, with the sign test
        where there are seeds enough for one at the level 0.05, or the sign test alone where a run diverged."""
        share = ((values > math.log1p(MATTERS)) + (np.abs(values) <= math.log1p(MATTERS)) / 2).mean()
        if share < MEANINGFUL:
            return False
        if (values == values[0]).all():
            return len(values) > 1
        if np.isfinite(values).all():
            student = stats.ttest_1samp(values, 0).pvalue <= level and values.mean() > 0
            return student and (len(values) < 6 or sign_test(values) <= level)
        return sign_test(values) <= level

    level, rivals = LEVEL / len(defined), {}
    for p in defined:
        rivals[p] = [k for k in range(1, algorithms) if not np.isnan(losses[k, p]).all()]
    ahead = {(k, p) for p in defined for k in rivals[p] if wins(advantages(k, p), level)}
    behind = {
        (k, p) for p in defined for k in rivals[p] if wins(-advantages(k, p), level / (1 if k == 1 else len(rivals[p])))
    }
    first = [p for p in defined if rivals[p] and all((k, p) in ahead for k in rivals[p])]
    worse = [p for p in defined if any((k, p) in behind for k in rivals[p])]
    infinite = {p: np.isinf(losses[0, p]).sum() for p in defined}
    met = [p for p in defined if 1 in rivals[p]]
    expected = {
        "is ahead of all others": first,
        "is not told apart from the best": [p for p in defined if infinite[p] < seeds and p not in (*first, *worse)],
        "is behind the best": worse,
        "ahead of a1": [p for p in met if (1, p) in ahead],
        "behind a1": [p for p in met if (1, p) in behind],
        "diverges": [p for p in defined if infinite[p] == seeds],
        "diverges in some runs": [p for p in defined if 0 < infinite[p] < seeds],
        "is not defined": [p for p in range(problems) if p not in defined],
    }
    said: dict = {what: [] for what in expected}
    for part in text.removeprefix("Mine ").split("; "):
        for phrase in re.split(r" and (?=behind)", part):
            what, titles = re.fullmatch(r"(.*?) on (.*)", phrase).groups()
            if what == "is not told apart from a1":
                assert met and not expected["ahead of a1"] and not expected["behind a1"]
                continue
            what = re.sub(r"all \d+ others", "all others", what).replace("behind it", "behind a1")
            what = re.sub(r"^is (?=(ahead of|behind) a1)", "", what)
            said[what] = problems_of(titles, met if "a1" in what else defined)
    for what, those in expected.items():
        assert said[what] == (len(those) if isinstance(said[what], int) else those), (what, text)
        assert "behind" not in what or not isinstance(said[what], int)


@pytest.mark.parametrize("seeds, rate", [(6, 0), (15, 0.2)])
def test_equal_algorithms_are_seldom_said_to_differ(seeds, rate):
    """Of tables without any difference, one in twenty may say that there is one, also where runs diverge."""
    rng = np.random.default_rng(1)
    said = 0
    for _ in range(100):
        losses = rng.lognormal(size=(2, 4, seeds))
        losses[rng.random(losses.shape) < rate] = INF
        places = rank_on_problems(board_of(losses), "a0")
        said += any(place.comparisons["a1"].side != "even" for place in places)
    assert said <= 11  # the 99th percentile of a binomial count with 100 and 0.05
