"""Synthetic quadratics have the constants that were asked for, and noise that belongs to the minibatch."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation import problems
from fedatlas.federation.problems import instance_at, varies_by_seed
from fedatlas.federation.problems.quadratic import Quadratic, SyntheticQuadratic


def create(clients, **options):
    return SyntheticQuadratic(**options).build(clients)


@pytest.mark.parametrize("diagonal", [False, True])
def test_created_instance_has_its_constants(diagonal):
    problem = create(6, dim=12, mu=0.5, L=40.0, similarity=3.0, heterogeneity=2.0, diagonal=diagonal, start_scale=0)
    A = np.stack([np.diag(a) for a in problem.A]) if diagonal else problem.A
    spectrum = np.linalg.eigvalsh(A.mean(axis=0))
    apart = np.linalg.norm(A - A.mean(axis=0), ord=2, axis=(1, 2))
    assert spectrum[[0, -1]] == pytest.approx([0.5, 40.0])
    assert apart.max() == pytest.approx(3.0)
    eigenvalues = np.linalg.eigvalsh(A)
    expected = {"mu": 0.5, "L": 40.0, "mu_min": eigenvalues.min(), "L_max": np.abs(eigenvalues).max()}
    stacked = np.concatenate(A - A.mean(axis=0))  # mean_i |D_i v|^2 <= delta_A^2 |v|^2
    expected |= {"delta_A": np.linalg.norm(stacked, ord=2) / np.sqrt(6), "delta_rms": np.sqrt(np.mean(apart**2))}
    expected |= {"delta_B": 3.0}
    assert problem.constants() == pytest.approx(expected)
    centres = np.linalg.solve(A, problem.b[..., None])[..., 0]
    steps = centres[:, None] - centres  # six points at distance 2 of one point
    assert steps.any() and np.linalg.norm(steps, axis=-1).max() <= 4 + 1e-9
    assert (problem.start(0) == 0).all()


def test_instances_are_seeded():
    make = lambda **options: create(3, dim=4, heterogeneity=1.0, noise=1.0, **options)  # noqa: E731
    first, again, other = make(), make(), make(instance=1)
    assert (first.A == again.A).all() and (first.b == again.b).all() and (first.noise == again.noise).all()
    assert not np.allclose(first.A, other.A)
    assert (first.start(3) == again.start(3)).all() and (first.start(3) != first.start(4)).all()


@pytest.mark.parametrize("kind", ["quadratic", "similar"])
def test_an_instance_of_each_seed_is_built_for_a_seed_alone(kind):
    spec = {"kind": kind, "dim": 12, "instance": "seed"}
    assert varies_by_seed(spec) and instance_at(spec, 7) == {**spec, "instance": 7}
    with pytest.raises(UserError, match="instance is seed, so that each run has its own"):
        problems.create(spec, 3)
    problems.create(instance_at(spec, 7), 3)
    assert instance_at({**spec, "instance": 2}, 7)["instance"] == 2


def test_explicit_matrices_and_hand_computed_optimum():
    """FedSPS, Example 1 with moved centres: f_1 = (x - 1)^2, f_2 = (x + 2)^2 / 2 + 3."""
    problem = Quadratic([[2.0], [1.0]], [[2.0], [-2.0]], [1.0, 5.0])
    assert problem.optimum.x == pytest.approx([0.0])  # 2 x - 2 + x + 2 = 0
    assert problem.optimum.F == pytest.approx((1 + 2 + 3) / 2)
    at = problem.evaluate(np.array([2.0]))
    expected = {"loss": (1 + 8 + 3) / 2, "gradient_norm": 3.0, "suboptimality": 3.0, "distance": 2.0, "output": 2.0}
    assert at == pytest.approx(expected)
    values, grads = problem.full_batch(np.array([0, 1])).value_and_grad(np.array([2.0]))
    assert values.ravel() == pytest.approx([1.0, 11.0]) and grads.ravel() == pytest.approx([2.0, 4.0])


def test_diagonal_storage_is_the_same_problem():
    slim = create(4, dim=5, similarity=0.5, heterogeneity=1.0, diagonal=True, noise=0.2)
    wide = Quadratic(np.stack([np.diag(a) for a in slim.A]), slim.b, noise=0.2)
    y, clients = np.random.default_rng(0).standard_normal((3, 5)), np.array([0, 1, 3])
    index = np.arange(6).reshape(3, 2)
    np.testing.assert_allclose(slim.batch(clients, index).grad(y), wide.batch(clients, index).grad(y), rtol=1e-13)
    np.testing.assert_allclose(slim.prox(y, 2.0, clients), wide.prox(y, 2.0, clients), rtol=1e-12)
    np.testing.assert_allclose(slim.optimum.x, wide.optimum.x, rtol=1e-12)


def test_noise_belongs_to_the_minibatch():
    problem = create(4, dim=6, noise=10.0, samples=5000)
    y, clients = np.ones((4, 6)), np.arange(4)
    index = np.random.default_rng(0).integers(5000, size=(4, 3))
    exact = problem.full_batch(clients).grad(y)
    first, again = problem.batch(clients, index), problem.batch(clients, index)
    added = first.grad(y) - exact
    np.testing.assert_allclose(added, problem.noise[index].mean(axis=1), rtol=1e-9, atol=1e-12)
    assert (again.grad(y) == first.grad(y)).all()
    elsewhere = first.grad(3 * y) - problem.full_batch(clients).grad(3 * y)
    np.testing.assert_allclose(elsewhere, added, rtol=1e-9, atol=1e-11)
    assert (first.value_and_grad(y)[0] == problem.full_batch(clients).value_and_grad(y)[0]).all()
    assert np.abs(problem.noise.mean(axis=0)).max() < 1e-12
    assert problem.noise.std() == pytest.approx(10, rel=0.02)
    spread = np.corrcoef(problem.noise.T) - np.eye(6)
    assert np.abs(spread).max() < 0.06


def test_without_a_strongly_convex_mean_the_optimum_is_unknown():
    problem = Quadratic([[1.0, -1.0]], [[0.0, 1.0]])
    assert problem.optimum is None
    assert "suboptimality" not in problem.evaluate(np.zeros(2))
    with pytest.raises(UserError, match="strongly convex"):
        problem.solve()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"mu": 0.0}, "mu is 0.0; it must be a number larger than 0"),
        ({"mu": 2.0, "L": 1.0}, "mu <= L is needed"),
        ({"similarity": -1.0}, "at least 0"),
        ({"clients": 1, "similarity": 1.0}, "one client"),
        ({"Lipschitz": 1.0}, "Lipschitz"),
    ],
)
def test_refuses_what_cannot_be(options, message):
    options = {"kind": "quadratic", "dim": 3, "clients": 2} | options
    with pytest.raises(UserError, match=message):
        problems.create(options, options.pop("clients"))


@pytest.mark.parametrize(
    ("A", "b", "c", "complaint"),
    [
        ([[1.0, 2.0]], [[1.0]], None, "A needs a matrix for each client"),
        ([1.0], [1.0], None, "b needs a row for each client"),
        ([[1.0]], [[1.0]], [1.0, 2.0], "c needs a number for each client"),
        ([[[np.nan]]], [[1.0]], None, "must be finite"),
        ([[1.0]], [[np.inf]], None, "must be finite"),
        ([[[1.0, 1.0], [0.0, 1.0]]], [[1.0, 1.0]], None, "not symmetric"),
    ],
)
def test_refuses_arrays_of_no_quadratic(A, b, c, complaint):
    with pytest.raises(UserError, match=complaint):
        Quadratic(A, b, c)


def test_a_flat_coordinate_has_no_optimum():
    content = {"centers": [[0.0, 0.0]] * 2, "curvatures": [[1.0, 0.0], [2.0, 0.0]]}
    assert not SyntheticQuadratic(**content).solvable and create(2, **content).optimum is None
    with pytest.raises(UserError, match="equally many"):
        create(2, **(content | {"curvatures": [[1.0], [1.0, 2.0]]}))


@pytest.mark.parametrize(
    "options", [{"centers": [[0.0], [1.0]], "curvatures": [1.0]}, {"dim": 2, "curvatures": [1, 1]}]
)
def test_refuses_curvatures_that_do_not_fit(options):
    with pytest.raises(UserError, match="curvatures"):
        create(2, **options)
