"""The quadratics of FedRed's Section 5, against all their matrices built one by one."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.problems.similar import CONVEXITY, SyntheticSimilarQuadratic


def make(convexity="strongly convex", **options):
    options = {"dim": 40, "components": 6, "rank": 12, "similarity": 4.0} | options
    return SyntheticSimilarQuadratic(convexity=convexity, **options).build(5)


def components(problem):
    """A_ij (n, m, d, d) and b_ij (n, m, d), with the A_ij from the definition in the docstring."""
    V, s = problem.V, np.sqrt(problem.spectrum - problem.mu)
    within = np.einsum("pk,ijk,qk->ijpq", V, s**2 * problem.e, V)
    A = problem.hessians()[:, None] + within
    return A, np.linalg.solve(A, problem.Ab[..., None])[..., 0]


@pytest.mark.parametrize("convexity", CONVEXITY)
def test_constants_are_exact(convexity):
    problem = make(convexity)
    A, _ = components(problem)
    client_matrices = A.mean(axis=1)
    eigenvalues, means, mean = (
        np.linalg.eigvalsh(A),
        np.linalg.eigvalsh(client_matrices),
        np.linalg.eigvalsh(client_matrices.mean(axis=0)),
    )
    apart = np.linalg.norm(client_matrices - client_matrices.mean(axis=0), ord=2, axis=(1, 2))
    constants, beta, mu = problem.constants(), problem.beta, CONVEXITY[convexity]["mu"]
    assert eigenvalues.max() == pytest.approx(100) and np.abs(eigenvalues).max() == pytest.approx(100)
    assert means.max(axis=1) == pytest.approx(np.full(5, 100)) and mean[-1] == pytest.approx(100)
    assert means.min(axis=1) == pytest.approx(np.full(5, mu), abs=1e-10) and mean[0] == pytest.approx(mu, abs=1e-10)
    if convexity == "non-convex":
        assert (eigenvalues.min(axis=-1) < -1).all()
    else:
        assert eigenvalues.min(axis=-1) == pytest.approx(np.full((5, 6), mu), abs=1e-10)
    assert constants["L"] == pytest.approx(100 + 2 * beta) and constants["mu"] == pytest.approx(mu - beta / 2)
    assert constants["delta_B"] == pytest.approx(4.0) == pytest.approx(apart.max())
    assert constants["delta_rms"] == pytest.approx(np.sqrt(np.mean(apart**2)))
    D = client_matrices - client_matrices.mean(axis=0)
    assert constants["delta_A"] == pytest.approx(np.linalg.norm(np.concatenate(D), ord=2) / np.sqrt(5))
    assert 0.5 < constants["delta_A"] / constants["delta_B"] < constants["delta_rms"] / constants["delta_B"] < 1


@pytest.mark.parametrize("convexity", CONVEXITY)
def test_gradients_and_values_are_those_of_the_sum(convexity):
    problem = make(convexity, center_scale=0.7)
    A, b = components(problem)
    x = np.random.default_rng(0).standard_normal(40)
    bend = 2 * problem.beta * x / (1 + x**2) ** 2
    height = problem.beta * (x**2 / (1 + x**2)).sum()
    gradients = np.einsum("ijpq,ijq->ijp", A, x - b)
    losses = 0.5 * np.vecdot(x - b, gradients) + height
    clients, index = np.array([0, 3]), np.array([[1, 1, 4], [0, 2, 5]])
    values, grads = problem.full_batch(clients).value_and_grad(x)
    np.testing.assert_allclose(grads, gradients.mean(axis=1)[clients] + bend, rtol=1e-8)
    np.testing.assert_allclose(values[:, 0], losses.mean(axis=1)[clients], rtol=1e-8)
    values, grads = problem.batch(clients, index).value_and_grad(x)
    np.testing.assert_allclose(grads, gradients[clients[:, None], index].mean(axis=1) + bend, rtol=1e-8)
    np.testing.assert_allclose(values[:, 0], losses[clients[:, None], index].mean(axis=1), rtol=1e-8)
    at = problem.evaluate(x)
    assert at["loss"] == pytest.approx(losses.mean())
    assert at["gradient_norm"] == pytest.approx(np.linalg.norm(gradients.mean(axis=(0, 1)) + bend))
    assert ("suboptimality" in at) == (convexity != "non-convex")


def test_non_convex_constants_are_attained():
    problem = make("non-convex")
    clients, steps = np.arange(5), 1e-5 * np.eye(40)
    for x, attained in ((np.zeros(40), ("L", -1)), (np.ones(40), ("mu", 0))):
        ahead, behind = ([problem.full_batch(clients).grad(x + s * e) for e in steps] for s in (1, -1))
        hessians = (np.stack(ahead, axis=-1) - np.stack(behind, axis=-1)) / 2e-5
        eigenvalues = np.linalg.eigvalsh(hessians)
        assert eigenvalues[:, attained[1]] == pytest.approx(np.full(5, problem.constants()[attained[0]]), rel=1e-5)


def test_optimum_and_proximal_step():
    problem = make("convex")
    assert np.abs(problem.gradient(problem.optimum.x)).max() < 1e-9 and problem.optimum.gap < 1e-12
    assert problem.evaluate(problem.optimum.x)["suboptimality"] == 0
    v, clients = np.random.default_rng(1).standard_normal((2, 40)), np.array([1, 4])
    y = problem.prox(v, 0.5, clients)
    assert np.abs(problem.full_batch(clients).grad(y) + 0.5 * (y - v)).max() < 1e-9


def test_instances_are_seeded_and_rows_independent_of_blocks():
    first, again, other = make(), make(), make(instance=1)
    assert (first.b == again.b).all() and not np.allclose(first.b, other.b)
    y = np.random.default_rng(2).standard_normal((5, 40))
    result = first.full_batch(np.arange(5)).grad(y)
    alone = [first.full_batch(np.array([i])).grad(y[i : i + 1])[0] for i in range(5)]
    assert (result == np.stack(alone)).all()
    assert not make(start_scale=0.0).start(0).any() and make(start_scale=2.0).start(0).any()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"convexity": "weak"}, "convexity"),
        ({"mu": 2.0}, "mu"),
        ({"components": 5}, "even"),
        ({"rank": 39}, "rank"),
        ({"similarity": 60.0}, "similarity"),
    ],
)
def test_refuses(options, word):
    with pytest.raises(UserError, match=word):
        make(**options)


def test_no_exact_steps_where_it_is_not_convex():
    problem = make("non-convex")
    with pytest.raises(UserError, match="proximal"):
        problem.prox(np.zeros(40), 500.0, np.arange(5))
    with pytest.raises(UserError, match="optimum"):
        problem.solve()
