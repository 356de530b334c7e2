"""FedAWE's mixing matrices and times of absence against hand, brute force and draws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas.theory.fedawe import mixing

CHANCES = st.lists(st.floats(0.05, 1), min_size=2, max_size=5).map(np.array)


def test_the_mixing_matrix_by_hand():
    W = mixing.mixing(np.array([True, False, True]))
    np.testing.assert_array_equal(W, [[0.5, 0, 0.5], [0, 1, 0], [0.5, 0, 0.5]])
    np.testing.assert_array_equal(mixing.mixing(np.zeros(2, bool)), np.eye(2))


@given(st.floats(0.05, 1), st.floats(0.05, 1))
def test_the_contraction_of_two_clients_is_the_chance_that_they_do_not_meet(p1, p2):
    assert mixing.contraction(np.array([p1, p2])) == pytest.approx(1 - p1 * p2)


def test_the_contraction_of_three_clients_is_that_of_the_mean_of_draws():
    p, rng = np.array([0.3, 0.5, 0.9]), np.random.default_rng(0)
    matrices = [mixing.mixing(active) for active in rng.random((20_000, 3)) < p]
    assert mixing.contraction(p) == pytest.approx(mixing.second(np.mean([W @ W for W in matrices], axis=0)), abs=0.01)


@given(CHANCES)
def test_lemma_4_holds_and_is_attained_by_no_smaller_power(p):
    assert mixing.contraction(p) <= mixing.contraction_bound(p.min(), len(p)) + 1e-12
    assert mixing.contraction_bound(1.0, 2) == 1 - 1 / 8


@given(CHANCES)
def test_consensus_begins_with_rho_and_falls_at_least_as_fast(p):
    rho, result = mixing.contraction(p), mixing.consensus(p, 4)
    assert result[0] == pytest.approx(rho, abs=1e-12)
    assert (result <= rho ** np.arange(1, 5) + 1e-12).all()


def test_consensus_is_the_mean_over_all_products():
    p = np.array([0.3, 0.6])
    sets = list(itertools.product((False, True), repeat=2))
    chance = {active: np.prod(np.where(active, p, 1 - p)) for active in sets}
    total = np.zeros((2, 2))
    for first, second in itertools.product(sets, sets):
        product = mixing.mixing(np.array(first)) @ mixing.mixing(np.array(second)) - 0.5
        total += chance[first] * chance[second] * product @ product.T
    assert mixing.consensus(p, 2)[1] == pytest.approx(np.linalg.eigvalsh(total)[-1])


def test_staleness_is_the_mean_over_all_histories():
    p = [0.2, 0.7, 0.4, 0.9]
    mean, square = np.zeros(4), np.zeros(4)
    for active in itertools.product((False, True), repeat=3):
        chance = np.prod(
            [probability if present else 1 - probability for probability, present in zip(p, active, strict=False)]
        )
        for t in range(4):
            latest = max((r for r in range(t) if active[r]), default=-1)
            mean[t] += chance * (t - latest)
            square[t] += chance * (t - latest) ** 2
    result = mixing.staleness(np.array(p)[:, None])
    np.testing.assert_allclose(result[0][:, 0], mean)
    np.testing.assert_allclose(result[1][:, 0], square)
