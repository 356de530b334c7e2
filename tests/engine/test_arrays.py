"""Client tables are lazy, and array helpers are the same for both libraries."""

import numpy as np
import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedatlas.federation import arrays
from fedatlas.federation.arrays import State, to_numpy
from fedatlas.federation.engine.channels import Table

LIBRARIES = {"numpy": np.asarray, "torch": lambda v: torch.from_numpy(np.array(v))}


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


def test_rows_never_written_read_as_the_first_state(make):
    table = Table(State(c=make([1.0, 2.0]), tau=-1), 4, make([0.0, 0.0]))
    ids = np.array([0, 3])
    read = table.read(ids)
    assert read.c.tolist() == [[1, 2], [1, 2]] and read.tau.tolist() == [[-1], [-1]]
    table.write(np.array([1, 3]), State(c=make([[5.0, 6.0], [7.0, 8.0]]), tau=9))
    assert table.read(np.arange(4)).c.tolist() == [[1, 2], [5, 6], [1, 2], [7, 8]]
    assert table.read(np.arange(4)).tau.tolist() == [[-1], [9], [-1], [9]]
    assert table.touched.tolist() == [False, True, False, True]


def test_memory_is_taken_for_the_rows_in_use_only(make):
    width, clients = 500_000, 1000  # 4 GB in full
    before = psutil.Process().memory_info().rss
    table = Table(State(c=make(np.ones(width))), clients, make(np.zeros(width)))
    table.write(np.array([7, 300]), State(c=make(np.ones((2, width)))))
    assert float(table.read(np.array([7, 8, 300])).c.sum()) == 3 * width
    assert psutil.Process().memory_info().rss - before < 1.3e9  # the process may keep 1 GiB of freed memory


FLOATS = st.floats(-1e6, 1e6, width=32)
BLOCKS = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=40), elements=FLOATS)


@given(BLOCKS, st.integers(1, 12), st.sampled_from(["C", "F"]))
def test_sums_of_rows_do_not_depend_on_blocks(rows, size, order):
    expected = rows[0].copy()
    for row in rows[1:]:
        expected = expected + row
    for make in LIBRARIES.values():
        total = None
        for start in range(0, len(rows), size):
            total = arrays.add_rows(total, make(np.array(rows[start : start + size], order=order)))
        assert (to_numpy(total) == expected).all()


def test_sums_of_long_rows_have_the_bits_of_short_ones():
    rows = np.random.default_rng(0).standard_normal((7, arrays.LONG))
    before = rows.copy()
    total = arrays.add_rows(arrays.add_rows(None, rows[:2]), rows[2:])
    parts = [arrays.add_rows(arrays.add_rows(None, half[:2]), half[2:]) for half in np.hsplit(rows, 2)]
    assert (total == np.concatenate(parts)).all()
    assert (rows == before).all()


def test_units_and_norms(make):
    v = make([[3.0, 4.0], [0.0, 0.0]])
    assert arrays.norm(v).tolist() == [[5.0], [0.0]]
    np.testing.assert_allclose(arrays.unit(v), [[0.6, 0.8], [0.0, 0.0]])
    assert arrays.norm(v[0]).tolist() == [5.0]


@given(BLOCKS, st.integers(1, 9), st.integers(0, 3))
def test_products_and_largest_entries_have_the_bits_of_single_rows(v, k, seed):
    A = np.random.default_rng(seed).standard_normal((v.shape[1], 3))
    for rows, matrix in ((v, A), (torch.from_numpy(v.copy()), torch.from_numpy(A))):
        together = arrays.product(rows, matrix), arrays.top_k(rows, k)
        for i in range(len(v)):
            alone = arrays.product(rows[i], matrix), arrays.top_k(rows[i : i + 1], k)[0]
            for several, one in zip(together, alone, strict=True):
                assert to_numpy(several[i]).tobytes() == to_numpy(one).tobytes()
    np.testing.assert_allclose(arrays.product(v, A), v @ A, rtol=1e-9, atol=1e-9 * (1 + np.abs(v).max()))
    kept = to_numpy(arrays.top_k(torch.from_numpy(v.copy()), k))
    assert (kept == arrays.top_k(v, k)).all() and ((kept == v) | (kept == 0)).all()
    largest = np.sort(np.abs(v), axis=1)[:, ::-1][:, :k]
    assert (np.sort(np.abs(kept), axis=1)[:, ::-1][:, :k] == largest).all()
    assert (np.count_nonzero(kept, axis=1) <= k).all()


def test_states_are_immutable():
    s = State(x=1)
    with pytest.raises(AttributeError, match="replace"):
        s.x = 2
    assert s.replace(y=3).y == 3 and "y" not in s and dict(s.replace(x=2).items()) == {"x": 2}
