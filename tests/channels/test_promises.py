"""Each channel keeps what it promises, for vectors of many dimensions and sizes, and counts the bits that it sends."""

import math

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.federation.channels import CHANNELS, directions
from fedatlas.federation.streams import stream

EXAMPLES = {
    "identity": [{}],
    "top-k": [{"share": 0.3}, {"count": 2}],
    "rand-k": [{"share": 0.3}, {"count": 2, "scaled": False}],
    "qsgd": [{"levels": 1}, {"levels": 8}],
    "natural": [{}],
}


KINDS = [CHANNELS.build({"kind": name, **options}) for name in CHANNELS.names() for options in EXAMPLES.get(name, [{}])]


DIMENSIONS = (1, 2, 7, 130)


DRAWS = 400


def vectors(d):
    """Vectors of many sizes and directions, (n, d)."""
    rng = np.random.default_rng(d)
    ramp, spike = np.arange(1.0, d + 1), np.eye(d)[0]
    return np.stack([rng.standard_normal(d), ramp, -spike, np.ones(d), np.zeros(d), 1e150 * ramp, 1e-150 * ramp])


def draws(seed):
    return lambda row: stream(seed, "channel", 0, row)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_promises(kind, d):
    omega, alpha = kind.omega(d), kind.alpha(d)
    assert omega is None or alpha is None or omega == 1 - alpha == 0
    bound = omega if omega is not None else 1 - alpha
    for v in vectors(d):
        size = np.abs(v).max() or 1.0
        rng = np.random.default_rng(1)  # for all rows: a generator for each takes longer than its draws
        sample = kind.code(np.tile(v, (DRAWS if kind.random else 1, 1)), lambda _, rng=rng: rng).rows
        errors = ((sample - v) / size) ** 2
        norm = ((v / size) ** 2).sum()
        noise = 5 * errors.sum(axis=1).std() / math.sqrt(len(sample))
        assert errors.sum(axis=1).mean() <= bound * norm + noise + 1e-12 * norm
        if omega is not None:
            bias = (sample / size).mean(axis=0) - v / size
            assert (bias**2).sum() <= (10 * omega / len(sample) + 1e-12) * norm  # its expectation is omega norm / draws


def test_bounds_are_attained():
    """A smaller constant would be wrong for some vector."""
    kind, ones = CHANNELS.build({"kind": "top-k", "count": 2}), np.ones((1, 6))
    error = ((kind.code(ones, draws(0)).rows - ones) ** 2).sum() / 6
    assert error == pytest.approx(1 - 1 / 3) and kind.alpha(6) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("spec", "d", "bits"),
    [
        ("identity", 10, 640),
        ({"kind": "top-k", "count": 2}, 10, 2 * (64 + 4)),
        ({"kind": "top-k", "share": 0.01}, 1000, 10 * (64 + 10)),
        ({"kind": "top-k", "count": 1}, 1, 64),
        ({"kind": "top-k", "share": 1}, 10, 640),
        ({"kind": "rand-k", "count": 1}, 1024, 74),
        ({"kind": "qsgd", "levels": 1}, 10, 64 + 10 * 2),
        ({"kind": "qsgd", "levels": 4}, 10, 64 + 10 * 4),
        ("natural", 10, 120),
    ],
    ids=str,
)
def test_bits(spec, d, bits):
    kind = CHANNELS.build(spec)
    coded = kind.code(np.ones((3, d)), draws(0))
    assert coded.bits == bits
    result = kind.code(np.ones((3, d), np.float32), draws(0))
    assert result.rows.dtype == np.float32 and result.bits <= bits


@pytest.mark.parametrize("kind", ["top-k", "rand-k"])
def test_a_share_is_the_decimal_number_that_was_written(kind):
    """In binary numbers 0.07 x 100 is larger than 7."""
    for percent in range(1, 101):
        channel = CHANNELS.build({"kind": kind, "share": percent / 100})
        assert [channel.k(d) for d in (10, 100, 7850)] == [-(-percent * d // 100) for d in (10, 100, 7850)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_rows_do_not_depend_on_one_another(kind):
    rows = np.random.default_rng(0).standard_normal((4, 30))
    expected = kind.apply(rows, draws(2)).rows
    alone = [kind.apply(rows[i : i + 1], lambda _, i=i: draws(2)(i)).rows[0] for i in range(4)]
    assert (expected == alone).all()
    rows[1, 3], rows[2, 4] = np.inf, np.nan
    damaged = kind.apply(rows, draws(2)).rows
    assert (damaged[[0, 3]] == expected[[0, 3]]).all() and not np.isfinite(damaged[1:3]).all(axis=1).any()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            {"up": "identity", "across": "natural"},
            "it must be a kind, a mapping with a kind and its options, or a mapping",
        ),
        ({}, "it must be a kind"),
        ({"up": {"kind": "top-k"}}, "channel top-k: give either share or count"),
        ({"kind": "top-k", "share": 0}, "share is 0; it must be a number larger than 0, at most 1"),
        ("topk", "unknown channel 'topk' — did you mean 'top-k'|unknown channel 'topk'"),
    ],
    ids=str,
)
def test_mistakes_are_one_sentence(spec, sentence):
    with pytest.raises(UserError, match=sentence):
        directions(spec)
