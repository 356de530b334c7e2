"""The place of one algorithm among its rivals, and the sentence about it."""

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from fedatlas.results.comparing.duels import MEANINGFUL, WonShare, compare_pair
from fedatlas.results.comparing.intervals import LEVEL
from fedatlas.results.comparing.placing_words import summarize_placings
from fedatlas.results.comparing.placings import place_algorithm, place_by_cost, resample_rank

from .fixtures import boards, make_board

INF, NAN = math.inf, math.nan


def board_of(losses):
    """A board of scores (algorithms, problems, seeds)."""
    return make_board(np.asarray(losses, float)[:, :, None])


@given(st.integers(0, 40), st.integers(1, 20))
def test_the_interval_of_a_share_inverts_the_binomial_test(doubled_wins, pairs):
    share = WonShare(min(doubled_wins, 2 * pairs) / 2, pairs)
    low, high = share.interval(0.05)
    assert 0 <= low <= share.value <= high <= 1
    if share.wins == int(share.wins):
        interval = stats.binomtest(int(share.wins), pairs).proportion_ci(0.95, "exact")
        np.testing.assert_allclose((low, high), interval, atol=1e-9)


def test_a_twin_has_probability_one_half():
    rng = np.random.default_rng(0)
    losses = rng.lognormal(size=(1, 3, 5))
    duel = compare_pair(board_of(np.concatenate([losses, losses])), 0, 1, 1)
    low, high = duel.won.interval()
    assert duel.won.value == 0.5 and low < 0.5 < high and duel.side == "even"


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


def test_the_place_on_a_problem_counted_by_hand():
    board = board_of([[[1, 1.1, 1.0]], [[2, 2.1, 2.2]], [[0.5, 0.5, 8]], [[NAN] * 3]])
    (placing,) = place_algorithm(board, "a0")
    assert placing.rival == "a2" and list(placing.duels) == ["a1", "a2"]
    np.testing.assert_allclose(placing.score, 1.1 ** (1 / 3))
    np.testing.assert_allclose(placing.rival_score, (0.5 * 0.5 * 8) ** (1 / 3))
    assert placing.rank.value == 1 and set(placing.rank.draws) == {1.0, 2.0}
    assert placing.duels["a2"].won.value == 1 / 3
    (undefined,) = place_algorithm(board, "a3")
    assert not undefined.is_defined and undefined.duels is None and undefined.rank is None


def test_a_rank_counts_means_and_shares_ties():
    board = board_of([[[1, 4]], [[2, 2]], [[9, 9]], [[INF, 1]]])
    assert resample_rank(board, 0).value == 1.5


def test_costs_place_an_algorithm_over_its_problems():
    board = make_board([[[[2, 2]], [[8, INF]], [[NAN] * 2]], [[[1, 1]], [[8, 8]], [[1, 1]]]])
    place = place_by_cost(board, "a0")
    assert place.attained == 3 / 4 and place.rank.value == 2
    assert place.ratio == INF  # the median of 2 and of the median of 1 and ∞
    easy = place_by_cost(make_board([[[[2, INF]]], [[[1, INF]]]]), "a0")
    assert easy.ratio == 2  # where nobody attains the target no ratio is known
    assert math.isnan(place_by_cost(make_board([[[[INF]]], [[[INF]]]]), "a0").ratio)


TITLES = ["Hessians alike", "Noise, 1 sample", "Softmax", "Network"]
PART = re.compile(r"(is|and) (ahead of|behind) (all(?: \d+)? others|it|a\d) on (.*)")


def problems_of(text):
    """The problems that a part names, or how many there are."""
    if match := re.fullmatch(r"(?:all )?(\d+)(?: of \d+)? problems", text):
        return int(match[1])
    return [title for title in TITLES if title in text.replace(" (1 sample)", ", 1 sample")]


@settings(max_examples=150)
@given(
    st.integers(2, 5),
    st.integers(1, 4),
    st.integers(1, 15),
    st.floats(0, 3),
    st.floats(0, 2),
    st.sampled_from([0.0, 0.05, 0.4]),
    st.integers(0, 2**32 - 1),
)
@example(2, 2, 9, 0.75, 1.5, 0.05, 16087)  # of nine runs seven are lost, one diverges and one is won
@example(2, 1, 2, 0.0, 0.0, 1.0, 0)  # all runs of all diverge
def test_the_sentence_is_never_stronger_than_its_numbers(algorithms, problems, seeds, effect, noise, rate, seed):
    """Every part is checked against numbers that SciPy computes from the losses, of which a share diverges."""
    rng = np.random.default_rng(seed)
    losses = np.exp(
        effect * rng.normal(size=(algorithms, problems, 1)) + noise * rng.normal(size=(algorithms, problems, seeds))
    )
    losses[rng.random(losses.shape) < rate] = INF
    losses[(rng.random(losses.shape[:2]) < 0.1)] = NAN
    board = board_of(losses)
    placings = dict(zip(TITLES, place_algorithm(board, "a0"), strict=False))
    text = summarize_placings("Mine", placings, {f"a{k}": f"a{k}" for k in range(algorithms)}, ["a1"])
    defined = [p for p in range(problems) if not np.isnan(losses[0, p]).all()]
    missing = [TITLES[p] for p in range(problems) if p not in defined]
    if not defined:
        assert text == "Mine is not defined on any of these problems"
        return
    assert text.startswith("Mine ")
    assert all(title in text.replace(" (1 sample)", ", 1 sample") for title in missing)

    def advantages(rival, p, sign):
        """By how much ours is better (sign 1) or worse (-1) on each instance; nothing where both runs diverge."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return sign * np.where(losses[0, p] == losses[rival, p], 0, np.log(losses[rival, p] / losses[0, p]))

    def sign_test(values):
        """The p-value of the sign test, in which ties count for the smaller side."""
        return stats.binomtest(int((values > 0).sum()), len(values)).pvalue if (values > 0).mean() > 0.5 else 1.0

    def differs(values, level):
        """Whether numbers are positive beyond noise: by Student's t test, or by the sign test where a run diverged."""
        if (values == values[0]).all():
            return bool(values[0] > 0 and len(values) > 1)
        if np.isfinite(values).all():
            return stats.ttest_1samp(values, 0).pvalue <= level * (1 + 1e-6) and values.mean() > 0
        return sign_test(values) <= level

    def share(values):
        return ((values > 0) + (values == 0) / 2).mean()

    def wins(rival, p, sign):
        """Whether a test and the count of runs bear that ours is better (sign 1) or worse (-1)."""
        values = advantages(rival, p, sign)
        return share(values) >= MEANINGFUL and differs(values, LEVEL / len(defined))

    def is_worse(p):
        """Whether a test at the level of all rivals together, or the count of runs, bears that a rival is better."""
        rivals = [k for k in range(1, algorithms) if not np.isnan(losses[k, p]).all()]
        losing = {k: advantages(k, p, -1) for k in rivals}
        most = {k: stats.beta.ppf(LEVEL / 2, share(v) * seeds, (1 - share(v)) * seeds + 1) for k, v in losing.items()}
        return any(wins(k, p, -1) or differs(v, LEVEL / len(rivals)) or most[k] > 0.5 for k, v in losing.items())

    for part in text.removeprefix("Mine ").split("; "):
        for phrase in re.split(r" (?=and behind)", part):
            if match := PART.fullmatch(phrase):
                sign, titles = 1 if match[2] == "ahead of" else -1, match[4]
                rivals = list(range(1, algorithms)) if "others" in match[3] else [1]

                def bears(p, rivals=rivals, sign=sign):
                    those = [k for k in rivals if not np.isnan(losses[k, p]).all()]
                    return bool(those) and all(wins(k, p, sign) for k in those)

            elif phrase.startswith("is not "):  # no more than that there is nothing to say
                continue
            else:
                what, titles = re.fullmatch(r"(.*?) on (.*)", phrase).groups()
                bears = {
                    "is worse than the best": is_worse,
                    "diverges": lambda p: np.isinf(losses[0, p]).all(),
                    "diverges in some runs": lambda p: 0 < np.isinf(losses[0, p]).sum() < seeds,
                }[what]
            named = problems_of(titles)
            if isinstance(named, int):
                assert sum(map(bears, defined)) >= named
            else:
                assert named and all(bears(TITLES.index(title)) for title in named)


@pytest.mark.parametrize("seeds, rate", [(6, 0), (15, 0), (3, 0.2), (9, 0.2), (15, 0.2)])
def test_equal_algorithms_are_seldom_said_to_differ(seeds, rate):
    """Of tables without any difference, one in twenty may say that there is one, also where runs diverge."""
    rng = np.random.default_rng(1)
    said = 0
    for _ in range(200):
        losses = rng.lognormal(size=(2, 4, seeds))
        losses[rng.random(losses.shape) < rate] = INF
        placings = place_algorithm(board_of(losses), "a0")
        said += any(each.duels["a1"].side != "even" for each in placings)
    assert said <= 18  # the 99th percentile of a binomial count with 200 and 0.05


@given(boards())
def test_every_board_has_a_sentence(board):
    if not board.numbers.size:
        return
    placings = place_algorithm(board, "a0")
    names = {id: id for id in board.algorithms}
    text = summarize_placings("Mine", {f"P{k}": each for k, each in enumerate(placings)}, names, list(names)[1:])
    assert re.match("Mine (is|diverges) ", text) and "nan" not in text
    if board.defined[0].any():
        assert 1 <= place_by_cost(board, "a0").rank.value <= len(names)
