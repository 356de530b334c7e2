"""What every problem owes the engine: minibatch oracles that agree with each other and with the objective."""

import numpy as np
import pytest
from scipy import sparse

from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.exchanges import ClientWork
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.similar import SyntheticSimilarQuadratic
from tests.helpers import like, logistic, network, quadratic, softmax


def _sparse_logistic():
    dense = logistic()
    return Logistic(sparse.csr_matrix(dense.A), (dense.b > 0).astype(int), dense.l2, dense.partition)


def by_size(make):
    problem = make()
    problem.weights = "size"
    return problem


MAKE = {
    "logistic": logistic,
    "logistic, shared": lambda: logistic(heterogeneous=False),
    "logistic, sparse": _sparse_logistic,
    "softmax": softmax,
    "softmax, no bias": lambda: softmax(bias=False, start_scale=1.0),
    "softmax, shared": lambda: softmax(heterogeneous=False, l2=0.0),
    "quadratic": lambda: quadratic(noise=0.0),
    "quadratic, diagonal": lambda: quadratic(noise=0.0, diagonal=True),
    "quadratic, noisy": quadratic,
    "similar": lambda: SyntheticSimilarQuadratic(dim=12, similarity=1.0, rank=4).build(5),
    "similar, not convex": lambda: SyntheticSimilarQuadratic(
        dim=12, convexity="non-convex", similarity=1.0, rank=4, center_scale=1.0
    ).build(5),
    "logistic, by size": lambda: by_size(logistic),
    "softmax, by size": lambda: by_size(softmax),
    "linear": lambda: network("linear"),
    "linear, logistic": lambda: network("linear", classes=2, loss="logistic", l2=0.0),
    "mlp": lambda: network({"kind": "mlp", "hidden": [7]}),
    "mlp, shared": lambda: network({"kind": "mlp", "hidden": [7]}, heterogeneous=False),
    "lenet": lambda: network("lenet"),
}


CLIENTS = np.array([1, 2, 4])


@pytest.fixture(scope="module", params=MAKE)
def problem(request):
    return MAKE[request.param]()


@pytest.fixture
def points(problem):
    """A different point for each of three clients."""
    return like(problem, 0.3 * np.random.default_rng(5).standard_normal((3, problem.dim)))


@pytest.fixture
def index(problem):
    return np.random.default_rng(6).integers(problem.samples, size=(3, 4)).astype(np.int32)


def test_gradient_is_the_slope_of_the_value(problem, points, index):
    if getattr(problem, "noise", None) is not None:
        pytest.skip("noise is on gradients alone")
    for batch in (problem.batch(CLIENTS, index), problem.full_batch(CLIENTS)):
        grad = to_numpy(batch.value_and_grad(points)[1])
        for direction in np.random.default_rng(7).standard_normal((4, problem.dim)):
            direction /= np.linalg.norm(direction)
            h = like(problem, 1e-6 * direction)
            ahead, behind = (to_numpy(batch.value_and_grad(points + sign * h)[0]) for sign in (1, -1))
            slope = (ahead - behind)[:, 0] / 2e-6
            np.testing.assert_allclose(slope, grad @ direction, rtol=1e-5, atol=1e-7)


def test_batch_is_the_mean_of_its_samples(problem, points, index):
    batch_grad = to_numpy(problem.batch(CLIENTS, index).value_and_grad(points)[1])
    sample_grads = [to_numpy(problem.batch(CLIENTS, index[:, [j]]).grad(points)) for j in range(index.shape[1])]
    np.testing.assert_allclose(batch_grad, np.mean(sample_grads, axis=0), rtol=1e-12, atol=1e-13)


def test_large_batch_of_one_client_is_the_mean_of_its_samples(problem, points):
    index = np.random.default_rng(8).integers(problem.samples, size=(1, 2 * problem.samples))
    batch, y = problem.batch(CLIENTS[:1], index), points[:1]
    value, grad = batch.value_and_grad(y)
    samples = [problem.batch(CLIENTS[:1], index[:, [j]]).value_and_grad(y) for j in range(index.shape[1])]
    values, grads = ([to_numpy(part) for part in parts] for parts in zip(*samples, strict=True))
    np.testing.assert_allclose(to_numpy(value), np.mean(values, axis=0), rtol=1e-12)
    np.testing.assert_allclose(to_numpy(grad), np.mean(grads, axis=0), rtol=1e-11, atol=1e-13)
    assert np.sum(batch.size) == index.size


def test_full_batch_is_the_mean_over_the_clients_data(problem, points):
    full = problem.full_batch(CLIENTS)
    values, grads = (to_numpy(part) for part in full.value_and_grad(points))
    for position, client in enumerate(CLIENTS):
        rows = np.arange(problem.samples) if problem.partition is None else problem.partition.client(client)
        batch = problem.batch(CLIENTS[[position]], rows[None])
        value, grad = batch.value_and_grad(points[position : position + 1])
        np.testing.assert_allclose(values[position], to_numpy(value)[0], rtol=1e-12)
        np.testing.assert_allclose(grads[position], to_numpy(grad)[0], rtol=1e-11, atol=1e-13)
        assert np.broadcast_to(full.size, 3)[position] == len(rows)


def test_loss_is_the_clients_objectives_weighed_by_their_data(problem, points):
    clients = np.arange(problem.clients or (problem.partition.clients if problem.partition else 1))
    plain = problem.partition is None or np.ndim(getattr(problem, "shares", lambda _: 1)(clients))
    weights = np.ones(len(clients)) if plain else problem.partition.sizes
    values = to_numpy(problem.full_batch(clients).value_and_grad(points[0])[0])[:, 0]
    assert problem.evaluate(points[0])["loss"] == pytest.approx(np.average(values, weights=weights), rel=1e-12)


def test_calls_within_a_step_see_one_minibatch(problem, points):
    draws = np.random.default_rng(9).integers(problem.samples, size=(3, 2, 2))
    gradients = []
    round = Round(round=0, order=CLIENTS, setting=Setting(clients=5, rounds=1), steps=2)
    for g in Steps(problem, CLIENTS, draws, round, ClientWork(3)):
        first, second = g(points), g(points)
        assert (first == second).all()
        np.testing.assert_allclose(to_numpy(g.value_and_grad(points)[1]), to_numpy(first), rtol=1e-13, atol=1e-15)
        gradients.append(to_numpy(first).copy())
    deterministic = problem.clients is not None and getattr(problem, "noise", 0) is None
    assert deterministic or not np.allclose(gradients[0], gradients[1])


@pytest.mark.parametrize("exact", [True, False])
def test_clients_outside_of_a_mask_compute_no_full_gradient(problem, points, exact):
    draws = np.random.default_rng(9).integers(problem.samples, size=(3, 2, 2))
    setting = Setting(clients=5, rounds=1, full_gradients="exact" if exact else "minibatch")
    round, work = Round(round=0, order=CLIENTS, setting=setting, steps=2), ClientWork(CLIENTS)
    steps = Steps(problem, CLIENTS, draws, round, work)
    expected = to_numpy(steps.full(points)).copy()
    rows = to_numpy(steps.full(points, like(problem, np.array([[1.0], [0.0], [1.0]])) > 0))
    assert (rows[[0, 2]] == expected[[0, 2]]).all() and not rows[1].any()
    gradients, _, full, _ = work.amounts(None, None, np.zeros(5))
    assert (np.array([2, 1, 2]) == (full if exact else np.asarray(gradients) / 2)).all()
    assert work.gradients == (5 if exact else 10)


@pytest.mark.parametrize("make", [lambda: softmax(dtype="float32"), lambda: network("linear", dtype="float32")])
def test_float32_is_the_same_problem(make):
    problem = make()
    double = softmax() if problem.start(0).dtype == np.float32 else network("linear")
    y, index = 0.3 * np.random.default_rng(5).standard_normal(problem.dim), np.arange(8).reshape(2, 4)
    values = []
    for p in (problem, double):
        value, grad = p.batch(CLIENTS[:2], index).value_and_grad(like(p, y))
        values.append((to_numpy(value), to_numpy(grad)))
        assert grad.dtype == p.start(0).dtype
    np.testing.assert_allclose(values[0][0], values[1][0], rtol=1e-5)
    np.testing.assert_allclose(values[0][1], values[1][1], rtol=1e-4, atol=1e-5)
    losses = [p.evaluate(like(p, y))["loss"] for p in (problem, double)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
