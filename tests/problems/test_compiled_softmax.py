"""Compiled gradients of softmax regression: those of gathered rows and matrix products, with bits that stay."""

import itertools

import numpy as np
import pytest

from fedatlas.data.dataset import Dataset
from fedatlas.federation import partitions
from fedatlas.federation.problems.softmax import CompiledBatch, SoftmaxBatch, SoftmaxRegression

COMPILATION = pytest.mark.slow  # for other types of rows and points, which takes seconds


CLIENTS = np.arange(3)


def images(features, classes, samples=400):
    """A data set of images with background, and rows of zeros."""
    rng = np.random.default_rng(features)
    X = (
        rng.integers(256, size=(samples, 1, 1, features))
        * (rng.random((samples, 1, 1, -(-features // 8))) < 0.4).repeat(8, axis=-1)[..., :features]
    )
    return Dataset("noise", X.astype(np.uint8), rng.integers(classes, size=samples), None, None, classes, {}, 255.0)


def problem(features, classes, pixels=True, **options):
    data = images(features, classes)
    partition = partitions.split({"kind": "dirichlet", "seed": 0, "alpha": 1.0}, data.y, 3)
    result = SoftmaxRegression(**options).build(data, None, partition)
    result.compiled = True  # whatever its size
    result.pixels = data.X.reshape(len(data.y), -1) if pixels else None
    return result


@pytest.mark.parametrize(
    "dtype, pixels",
    [("float64", True), *(pytest.param(*case, marks=COMPILATION) for case in (("float64", False), ("float32", True)))],
)
def test_gradients_are_those_of_gathered_rows(dtype, pixels):
    rng, close = np.random.default_rng(0), {"rtol": 1e-12, "atol": 1e-12} if dtype == "float64" else {"atol": 1e-5}
    shapes = zip([3, 8, 37, 530], [2, 12, 5, 7], itertools.cycle([True, False]), [0.0, 0.3] * 2, strict=False)
    for features, classes, bias, l2 in shapes:
        result = problem(features, classes, pixels, bias=bias, l2=l2, dtype=dtype, weights="size")
        x = rng.standard_normal((3, result.dim)).astype(dtype)
        for size in (1, 20, 45):  # the last with more samples than are computed at once
            index = rng.integers(result.samples, size=(3, size))
            for weights in (None, result._weights(CLIENTS, index)):
                compiled = CompiledBatch(result, index, weights)
                plain = SoftmaxBatch(result, result.A[index], result.y[index], weights)
                for points in (x, x[0]):
                    (losses, g), (value, gradient) = (way.value_and_grad(points) for way in (compiled, plain))
                    assert (g.dtype, losses.dtype, losses.shape) == (gradient.dtype, value.dtype, value.shape)
                    np.testing.assert_allclose(g, gradient, **close)
                    np.testing.assert_allclose(losses, value, **close)
                    assert np.array_equal(compiled.grad(points), g)


@pytest.mark.parametrize("split", [True, False])
def test_full_gradients_and_hessians_are_those_of_matrix_products(split):
    result, plain = (problem(37, 7, l2=0.1, weights="size" if split else "equal") for _ in range(2))
    plain.compiled = False
    for each in (result, plain):
        each.partition = each.partition if split else None
    y, v = np.random.default_rng(1).standard_normal((2, 3, result.dim))
    ways = [each.full_batch(CLIENTS) for each in (result, plain)]
    assert isinstance(ways[0].batches[0], CompiledBatch) and isinstance(ways[1].batches[0], SoftmaxBatch)
    assert (ways[0].size == ways[1].size).all()
    for points in (y, y[0]):
        for ours, theirs in zip(*(way.value_and_grad(points) for way in ways), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        products = [way.hessian_product(points, v) for way in ways]
        np.testing.assert_allclose(*products, rtol=1e-12, atol=1e-12)


def test_a_client_has_the_same_bits_alone_and_beside_others():
    result, rng = problem(37, 7, l2=0.1), np.random.default_rng(1)
    x, index = rng.standard_normal((3, result.dim)), rng.integers(result.samples, size=(3, 45))
    losses, g = result.batch(CLIENTS, index).value_and_grad(x)
    for i in CLIENTS:
        alone = result.batch(CLIENTS[[i]], index[[i]]).value_and_grad(x[i])
        assert np.array_equal(alone[0][0], losses[i])
        assert np.array_equal(alone[1][0], g[i])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_stays_none(value):
    result = problem(37, 7)
    x = np.zeros(result.dim)
    x[-1] = value  # a bias
    losses, g = result.batch(CLIENTS, np.zeros((3, 2), int)).value_and_grad(x)
    assert np.isnan(losses).all() and np.isnan(g).any(axis=1).all()
