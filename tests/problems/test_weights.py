"""The objective F is the mean of the clients' objectives, whatever their sizes and weights (FedRed, Section 5)."""

import numpy as np
import pytest
import torch
from scipy import sparse

from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.networks.network import Network
from fedatlas.federation.networks.samples import Samples
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.softmax import Softmax

RNG = np.random.default_rng(0)
N, L2 = 61, 0.1
A, Y = RNG.standard_normal((N, 6)), RNG.integers(2, size=N)


def split(*sizes):
    """A partition of the rows in a random order; those beyond the sum of the sizes belong to no client."""
    order = np.random.default_rng(1).permutation(N)[: sum(sizes)]
    return Partition("test", 0, {}, len(sizes), N, order, np.cumsum([0, *sizes]))


def linear(**options):
    return Network(
        Samples(A, Y, dtype="float64"),
        lambda: torch.nn.Linear(6, 2),
        start_scale=0.3,
        dtype="float64",
        eval_samples="all",
        **options,
    )


UNEQUAL = {"unequal": split(40, 12, 6, 3), "rows left over": split(12, 12, 12), "both": split(30, 8, 2)}
SPLIT = UNEQUAL["unequal"]
CONVEX = {
    "logistic": lambda **options: Logistic(A, Y, **options),
    "logistic, sparse": lambda **options: Logistic(sparse.csr_matrix(A), Y, **options),
    "logistic, single precision": lambda **options: Logistic(A.astype(np.float32), Y, **options),
    "logistic, wide": lambda **options: Logistic(np.hstack([A] * 12), Y, **options),
    "softmax": lambda **options: Softmax(A, Y, 2, **options),
    "softmax, no bias": lambda **options: Softmax(A, Y, 2, bias=False, **options),
    "softmax, single precision": lambda **options: Softmax(A, Y, 2, dtype="float32", **options),
}
MAKE = CONVEX | {"network": linear}
weigh = pytest.mark.parametrize("weights", ["equal", "size"])


def transcribed_loss(problem, x, weights, partition):
    """sum_i w_i f_i in double precision, row by row: f_i is the mean loss of client i's rows, with its l2 term."""
    x, total = np.float64(to_numpy(x)), 0.0
    for i in range(partition.clients):
        rows, w = partition.client(i), 1 / partition.clients
        if weights == "size":
            w = partition.sizes[i] / partition.sizes.sum()
        for j in rows:
            if isinstance(problem, Logistic):
                a = to_numpy(problem.A[[j]].toarray()[0] if sparse.issparse(problem.A) else problem.A[j])
                loss = np.log1p(np.exp(-(1 if Y[j] else -1) * np.float64(a) @ x))
            else:
                z = x[:12].reshape(2, 6) @ A[j] + (x[12:] if len(x) > 12 else 0)
                loss = np.log(np.exp(z).sum()) - z[Y[j]]
            total += w * loss / len(rows)
    return total + L2 / 2 * (x @ x)


@weigh
@pytest.mark.parametrize("partition", UNEQUAL.values(), ids=UNEQUAL)
@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_loss_is_the_weighted_mean_of_the_clients_losses(make, partition, weights):
    problem = make(l2=L2, partition=partition, weights=weights)
    x = 0.3 * np.random.default_rng(2).standard_normal(problem.dim)
    low_precision = getattr(problem, "dtype", None) == np.float32
    x = torch.tensor(x) if make is linear else x.astype(problem.dtype)
    tolerance = {"rel": 1e-6 if low_precision else 1e-13}
    expected = transcribed_loss(problem, x, weights, partition)
    values, grads = problem.full_batch(np.arange(partition.clients)).value_and_grad(x)
    assert problem.evaluate(x)["loss"] == pytest.approx(expected, **tolerance)
    assert float(values.mean()) == pytest.approx(expected, **tolerance)
    if make is not linear:
        assert problem.value(x) == pytest.approx(expected, **tolerance)
        np.testing.assert_allclose(grads.mean(axis=0), problem.gradient(x), atol=1e-6 if low_precision else 1e-14)


@weigh
@pytest.mark.parametrize("make", CONVEX.values(), ids=CONVEX)
def test_constants_bound_the_curvature_of_the_objective(make, weights):
    problem = make(l2=L2, partition=SPLIT, weights=weights)
    c, pooled = problem.constants(), make(l2=L2)
    for x in (np.zeros(problem.dim), np.random.default_rng(3).standard_normal(problem.dim)):
        product = problem.hessian_product(x.astype(problem.dtype))
        hessian = np.stack([np.float64(product(e)) for e in np.eye(problem.dim, dtype=problem.dtype)])
        curvatures = np.linalg.eigvalsh((hessian + hessian.T) / 2)
        assert c["mu"] <= curvatures[0] + 1e-7 and curvatures[-1] <= c["L"] * (1 + 1e-6) <= c["L_max"] * (1 + 2e-6)
        if not x.any():  # there the loss of two classes is as curved as the bound
            assert curvatures[-1] == pytest.approx(c["L"], rel=1e-5)
    assert (c["L"] == pooled.constants()["L"]) == (weights == "size")


@pytest.mark.parametrize(
    "options",
    [{"weights": "size"}, {"partition": split(N)}, {"partition": None}],
    ids=["by size", "one client", "shared"],
)
@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_the_mean_over_all_rows_keeps_its_bits(make, options):
    """Where all rows weigh alike, F is computed as on data that are not split."""
    problem, pooled = make(l2=L2, **{"partition": SPLIT} | options), make(l2=L2)
    x = pooled.start(1)
    assert problem.evaluate(x) == pooled.evaluate(x)
    if make is not linear:
        assert problem.value(x) == pooled.value(x) and (problem.gradient(x) == pooled.gradient(x)).all()
        assert problem.constant("L") == pooled.constant("L") and problem.solve().F == pooled.solve().F


@weigh
def test_a_network_of_one_layer_is_softmax_regression(weights):
    network, softmax = (make(l2=L2, partition=SPLIT, weights=weights) for make in (linear, CONVEX["softmax"]))
    x, clients, index = 0.3 * RNG.standard_normal(14), np.array([0, 3]), SPLIT.order[:10].reshape(2, 5)
    for theirs, ours in (
        (softmax.full_batch(clients), network.full_batch(clients)),
        (softmax.batch(clients, index), network.batch(clients, index)),
    ):
        for a, b in zip(theirs.value_and_grad(x), ours.value_and_grad(torch.tensor(x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    batch, points = network.batch(clients, index), torch.tensor(x).expand(2, -1)
    for apart, result in zip(batch._one_by_one(points), batch._in_one_pass(points), strict=True):
        np.testing.assert_allclose(apart, result, rtol=1e-12, atol=1e-14)  # as on a GPU
    for key, value in softmax.evaluate(x).items():
        assert network.evaluate(torch.tensor(x))[key] == pytest.approx(value, rel=1e-13)
