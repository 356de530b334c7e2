"""Mixing matrices of networks of clients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.federation import arrays
from fedatlas.federation.topologies import TOPOLOGIES
from fedatlas.federation.topologies.mixing import Mixing


def create(kind, m):
    """The Mixing of a graph of m clients."""
    return TOPOLOGIES.build(kind).mixing(m)


def dense_mix(W, rows):
    """sum_j W_ij rows_j, added up over all j: the slow twin of `Mixing.mix`."""
    total = 0
    for j, column in enumerate(W.T):
        total = total + arrays.column(column, rows) * rows[j]
    return total


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(TOPOLOGIES.names())),
    st.integers(1, 17),
    st.integers(0, 100),
)
def test_mixing_matrices_are_doubly_stochastic_and_mix_to_the_mean(kind, m, seed):
    network = create(kind, m)
    W = network.W
    np.testing.assert_allclose(W.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)
    assert (W >= -1e-15).all() and (np.linalg.matrix_power(W, len(W)) > 0).all()
    rows = np.random.default_rng(seed).standard_normal((m, 3))
    np.testing.assert_allclose(network.mix(rows), W @ rows, atol=1e-13)
    second = np.sort(abs(np.linalg.eigvalsh(W)))[-2] if m > 1 else 0
    assert second < 1 - 1e-9  # repeated mixing contracts to the mean


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", TOPOLOGIES.names())
@pytest.mark.parametrize("m", [1, 2, 7, 30])
def test_the_sparse_product_has_the_bits_of_the_dense_loop(m, kind, dtype):
    torch = pytest.importorskip("torch")
    network, rng = create(kind, m), np.random.default_rng(m)
    rows = rng.standard_normal((m, 5)).astype(dtype) * np.where(rng.random((m, 5)) < 0.2, -0.0, 1).astype(dtype)
    for values in (rows, torch.from_numpy(rows)):
        sparse, dense = network.mix(values), dense_mix(network.W, values)
        assert sparse.dtype == values.dtype == dense.dtype
        assert arrays.to_numpy(sparse).tobytes() == arrays.to_numpy(dense).tobytes()


def test_both_libraries_mix_alike():
    torch = pytest.importorskip("torch")
    rows = np.random.default_rng(0).standard_normal((6, 3))
    network = create("ring", 6)
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
        Mixing(W)


def test_sources_and_targets_of_directed_links():
    """Clients 1 and 2 each send half to client 0, who sends nothing."""
    mixing = Mixing([[1, 0.5, 0.5], [0, 0.5, 0], [0, 0, 0.5]], directed=True)
    assert (mixing.sources.tolist(), mixing.targets.tolist()) == ([2, 0, 0], [0, 1, 1])
