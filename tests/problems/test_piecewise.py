"""The function on which accelerated gradient descent is unstable (Yuan & Ma 2020, Theorem 4.2, Lemmas F.2 and 4.3)."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.problems.piecewise import AcceleratedInstability, Piecewise
from fedatlas.theory.fedac import instability

KAPPAS = (25, 100, 1000)


def agd(problem, kappa, steps, start=1):
    """Algorithm 3 with L = 1 as printed: (w_ag, w_md, w) before each step, and w_ag, w after the last."""
    L, mu, root = Decimal(1), 1 / Decimal(kappa), Decimal(kappa).sqrt()
    w = ag = Decimal(start)
    for _ in range(steps):
        md = w / (root + 1) + root / (root + 1) * ag
        yield ag, md, w
        slope = problem.exact(md)[1]
        ag = md - slope / L
        w = (1 - 1 / root) * w + md / root - (1 / (L * mu)).sqrt() * slope
    yield ag, None, w


@pytest.fixture(scope="module", params=KAPPAS)
def kappa(request):
    return request.param


@pytest.fixture(scope="module")
def instance(kappa):
    return AcceleratedInstability(kappa=kappa, steps=60).build(3)


def test_value_and_slope_by_hand():
    """F'' = 4, 1, 3 left of -1, between, and right of 2: F(3) = 4/2 + 2 + 3/2 and F(-2) = 1/2 + 1 + 4/2."""
    exact = Piecewise([Fraction(-1), Fraction(2)], [4, 1, 3], Fraction(0))
    assert exact.exact(Fraction(3)) == (Fraction(11, 2), 5, 3)
    assert exact.exact(Fraction(-2)) == (Fraction(7, 2), -5, 4)
    assert exact.exact(Fraction(2)) == (2, 2, 3) and exact.exact(Fraction(-1)) == (Fraction(1, 2), -1, 1)
    problem = Piecewise([-1.0, 2.0], [4.0, 1.0, 3.0])
    values, slopes = problem.value_and_gradient(np.array([3.0, -2.0, 0.0, 2.0, -1.0]))
    assert values.tolist() == [5.5, 3.5, 0.0, 2.0, 0.5] and slopes.tolist() == [5.0, -5.0, 0.0, 2.0, -1.0]
    assert problem.constants() == {"mu": 1.0, "L": 4.0}
    moved = Piecewise([-1.0, 2.0], [4.0, 1.0, 3.0], minimiser=2.0)
    assert moved.exact(-2.0)[:2] == (3 * 3 / 2 + 3 + 4 / 2, -7.0) and moved.exact(3.0)[:2] == (1.5, 3.0)
    assert moved.evaluate(np.array([3.0])) == {"loss": 1.5, "suboptimality": 1.5, "distance": 1.0}
    assert np.isnan(problem.value_and_gradient(np.array([np.nan]))[1]).all()


def test_is_smooth_and_strongly_convex(kappa, instance):
    """F'' is mu or L, and F' grows between any two points by mu to L times their distance (equal within a piece)."""
    mu, L = 1 / Decimal(kappa), Decimal(1)
    with localcontext(prec=instance.digits):
        assert {float(item) for item in instance.curvatures} == {1 / kappa, 1.0}
        assert len(instance.knots) == 2 * 20
        middles = [(a + b) / 2 for a, b in itertools.pairwise(instance.knots)]
        points = sorted([*instance.knots, *middles, Decimal(-1), Decimal(0), Decimal(2)])
        at = [instance.exact(x) for x in points]
        for (x, (F, slope, curvature)), (y, (G, steeper, _)) in itertools.pairwise(zip(points, at, strict=True)):
            apart = y - x
            assert mu * apart * (1 - Decimal("1e-30")) <= steeper - slope <= L * apart * (1 + Decimal("1e-30"))
            assert abs((steeper - slope) / apart - curvature) < Decimal("1e-30")
            assert abs(G - F - (slope + steeper) / 2 * apart) <= Decimal("1e-30") * apart * max(
                abs(steeper), abs(slope)
            )
    assert instance.constants() == pytest.approx({"mu": 1 / kappa, "L": 1.0})
    assert instance.exact(Decimal(0))[:2] == (0, 0) and instance.optimum.x == [0.0]


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 60, 150])
def test_curvature_along_agd(kappa, steps):
    """Eqs. F.2 and F.3: L around md at t = 1 (mod 3), mu around the others, on an interval of positive length."""
    problem = AcceleratedInstability(kappa=kappa, steps=steps).build(1)
    assert len(problem.knots) == 2 * ((steps + 1) // 3)
    with localcontext(prec=problem.digits):
        for t, (_, md, _) in enumerate(itertools.islice(agd(problem, kappa, steps), steps)):
            margin = problem.margin(md)
            assert margin > 0
            for near in (-margin, 0, margin):
                assert float(problem.exact(md + near * Decimal("0.999"))[2]) == (1.0 if t % 3 == 1 else 1 / kappa), t


@pytest.mark.parametrize("K", [1, 2, 10, 40, 100])
def test_agd_separates_as_the_theorem_says(kappa, K):
    """Theorem 4.2 in the form that its proof has (eq. F.9), and the distances themselves (eq. F.8)."""
    frame = instability.distances(kappa, 3 * K)
    assert frame["step"].tolist() == list(range(3 * K + 1))
    first, last = frame.iloc[0], frame.iloc[-1]
    eps = first["distance"]
    assert first["bound"] == eps and last["bound"] / eps == pytest.approx(1.02**K)
    assert last["distance"] >= eps * 1.02**K
    assert last["output"] >= eps * 1.02**K / 2
    growth, root = 2 * (1 - 1 / math.sqrt(kappa)) ** 3, math.sqrt(kappa)
    assert last["distance"] / eps == pytest.approx(growth**K * (root + 1) / 2, rel=1e-9)
    assert last["output"] / eps == pytest.approx(growth**K * (1 + 1 / root) / 2, rel=1e-9)


def test_starts_that_no_float_tells_apart_are_refused():
    with pytest.raises(UserError, match="too small"):
        instability.distances(1000, 3000)


def test_every_client_has_the_gradient(instance):
    y = np.array([[1.0], [0.3], [-0.7]])
    block = instance.batch(np.arange(3), np.zeros((3, 2), int))
    values, grads = block.value_and_grad(y)
    exact = [instance.exact(Decimal(item)) for item in y[:, 0].tolist()]
    np.testing.assert_allclose(values[:, 0], [float(F) for F, _, _ in exact], rtol=1e-12)
    np.testing.assert_allclose(grads[:, 0], [float(slope) for _, slope, _ in exact], rtol=1e-12)
    assert (instance.full_batch(np.arange(3)).grad(y) == grads).all() and block.size == 2
    assert instance.full_batch(np.arange(4)).grad(np.array([0.3])).tolist() == [grads[1].tolist()] * 4
    assert instance.shared and instance.start(0) == instance.start(1) == [1.0]
    assert instance.gradient(y[1]) == grads[1] and instance.value(y[1]) == values[1, 0]
