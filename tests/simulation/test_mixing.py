"""Mixing matrices of networks of clients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.federation.topologies import mixing


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(mixing.GRAPHS)),
    st.integers(1, 17),
    st.floats(0.05, 1.0),
    st.integers(0, 100),
)
def test_mixing_matrices_are_doubly_stochastic_and_mix_to_the_mean(kind, m, p, seed):
    try:
        network = mixing.create(kind, m, p, seed)
    except UserError as error:
        assert kind == "erdos-renyi" and "not connected" in str(error)
        return
    W = network.W
    np.testing.assert_allclose(W.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)
    assert (W >= -1e-15).all() and mixing.connected(W > 0)
    rows = np.random.default_rng(seed).standard_normal((m, 3))
    np.testing.assert_allclose(network.mix(rows), W @ rows, atol=1e-13)
    second = np.sort(abs(np.linalg.eigvalsh(W)))[-2] if m > 1 else 0
    assert second < 1 - 1e-9  # repeated mixing contracts to the mean


def test_both_libraries_mix_alike():
    torch = pytest.importorskip("torch")
    rows = np.random.default_rng(0).standard_normal((6, 3))
    network = mixing.create("grid", 6)
    assert (network.mix(torch.from_numpy(rows)).numpy() == network.mix(rows)).all()


@pytest.mark.parametrize(
    "W, problem",
    [
        ([[0.5, 0.5], [0.6, 0.4]], "doubly stochastic"),
        ([[1.5, -0.5], [-0.5, 1.5]], "doubly stochastic"),
        ([[1.0, 0.0]], "shape"),
    ],
)
def test_other_mixing_matrices_are_refused(W, problem):
    with pytest.raises(UserError, match=problem):
        mixing.Mixing(W)
