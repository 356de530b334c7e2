"""The theorems on FedSPS by hand and against runs, right and wrong ones."""

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.similar import SyntheticSimilarQuadratic
from fedatlas.theory import NotCovered
from fedatlas.theory.fedsps import FEDSPS_BOUNDS, BoundedVarianceConstants, FedSPSConstants
from fedatlas.theory.theorem import unmet
from fedatlas.theory.theorems import THEOREMS
from tests.helpers import quadratic

C = FedSPSConstants(mu=0.5, L=10.0, noise=3.0, D0=2.0, tau=2)
NAMES = ("3(a)", "3(b)", "6(a)")
METRICS = ["local_loss_mean_rounds_mean", "suboptimality_rounds_mean", "gradient_norm_rounds_mean_square"]


def create_problem(**options):
    options = {"dim": 12, "rank": 6, "L": 4, "similarity": 0.1, "center_scale": 0, "start_scale": 30} | options
    return SyntheticSimilarQuadratic(**options).build(4)


def run(problem, seed=1, **parameters):
    algorithm = ALGORITHMS.create("fedsps", parameters)
    record = ["step_size", "at_bound", "local_loss"]
    metrics = [name for name in METRICS if problem.optimum is not None or not name.startswith("suboptimality")]
    options = {"eval_points": 60, "record": record, "metrics": metrics}
    setting = Setting(clients=4, local_steps=2, rounds=500, batch=1, **options)
    return algorithm, setting, pd.DataFrame(Simulation(algorithm, problem, setting, seed).run().rows)


def largest_ratio(comparison):
    return np.max(comparison.measured / comparison.bound)


@pytest.mark.parametrize(
    ("name", "parameters", "bound"),
    [
        ("3(a)", {"c": 8.0, "gamma_b": 1.0}, 2 * 160 * 4 / 50 + 4 * 160 * 3),
        ("3(a)", {"c": 8.0, "gamma_b": 0.001}, 2 * 1000 * 4 / 50 + 4 * 3),
        ("3(b)", {"c": 16.0, "gamma_b": 0.01}, (1 - 0.5 / 320) ** 50 * 640 * 4 + 2 * 0.01 * 3 * 640),
        ("6(a)", {"c": 0.5, "gamma_b": 0.002}, 3 * 4 / 0.1 + 12 * (0.002 + 32 * 4 * 4e-6) * 30),
    ],
)
def test_bounds_by_hand(name, parameters, bound):
    a = ALGORITHMS.create("fedsps", parameters)
    assert unmet(FEDSPS_BOUNDS[name].conditions(C, a, 25)) is None
    assert unmet(FEDSPS_BOUNDS[name].requirements(C, 25)) is None
    assert FEDSPS_BOUNDS[name].bound(C, a, np.array([50]))[0] == pytest.approx(bound)


def test_interpolation_is_corollary_5():
    a = ALGORITHMS.create("fedsps", {"c": 16.0, "gamma_b": 50.0})
    alone = FedSPSConstants(mu=0.5, L=10.0, noise=0.0, D0=2.0, tau=2)
    assert FEDSPS_BOUNDS["3(b)"].bound(alone, a, 9) == pytest.approx((1 - 0.5 / 320) ** 9 * 640 * 4)
    flat = FedSPSConstants(mu=0.0, L=1.0, noise=0.0, D0=1.0, tau=1)
    assert unmet(FEDSPS_BOUNDS["3(b)"].requirements(flat, 25)) == "strongly convex clients"


@pytest.mark.parametrize(
    ("name", "parameters", "scatter"),
    [
        ("3(a)", {"c": 8.0, "gamma_b": 1 / 32}, 0.0),
        ("3(b)", {"c": 16.0, "gamma_b": 1 / 64}, 1.0),
        ("6(a)", {"gamma_b": 1 / 160}, 1.0),
    ],
)
def test_runs_stay_below_and_runs_that_stand_still_do_not(name, parameters, scatter):
    problem = create_problem(scatter=scatter)
    algorithm, setting, curve = run(problem, **parameters)
    comparison = FEDSPS_BOUNDS[name].compare(algorithm, problem, setting, curve)
    assert comparison.counted[-1] == 1000 and largest_ratio(comparison) <= 1
    assert (curve["at_bound_mean"][1:] == 1).all() == (name == "6(a)")
    still = curve.assign(**{column: curve[column][0] for column in ("distance", "suboptimality")})
    still["suboptimality_rounds_mean"] = still["suboptimality"]
    still["local_loss_mean_rounds_mean"] = curve["local_loss_mean"][1]
    assert largest_ratio(FEDSPS_BOUNDS[name].compare(algorithm, problem, setting, still)) > 1


def test_local_losses_are_those_of_the_theorem():
    """With one local step and full gradients they are the losses of the output."""
    problem, algorithm = create_problem(), ALGORITHMS.create("fedsps", {"c": 2.0})
    options = {"eval_rounds": 1, "record": ["local_loss"], "metrics": METRICS[:1]}
    setting = Setting(clients=4, rounds=5, local_steps=1, batch=None, **options)
    curve = pd.DataFrame(Simulation(algorithm, problem, setting, 0).run().rows)
    measured = FEDSPS_BOUNDS["3(a)"].measured(None, curve)[1:]
    means = np.cumsum(curve["loss"].to_numpy()[:-1]) / np.arange(1, 6)
    np.testing.assert_allclose(measured, means, rtol=1e-12)


BOUNDED = BoundedVarianceConstants(mu=-1.0, L=10.0, sigma2=3.0, zeta2=2.0, gap=7.0, n=4, tau=2)


def alike(**options):
    """A problem whose Hessians are those of all clients and samples, with a non-convex term."""
    return create_problem(**{"similarity": 0, "spread": 0, "beta": 3, "start_scale": 2} | options)


def test_theorem_18_by_hand():
    theorem = FEDSPS_BOUNDS["18"]
    expected = 8 * 7 / (50 * 0.001) + 4 * 0.001 * 10 * 3 / 4 + 512 * (0.001 * 2 * 10) ** 2 * (3 / 2 + 2)
    for a in (ALGORITHMS.create("fedsps", {"gamma_b": 0.001}), ALGORITHMS.create("fedavg", {"lr": 0.001})):
        assert unmet(theorem.conditions(BOUNDED, a, 25)) is None and unmet(theorem.requirements(BOUNDED, 25)) is None
        assert theorem.bound(BOUNDED, a, np.array([50]))[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "parameters", "condition"),
    [
        ("fedsps", {"gamma_b": 0.002}, "25 L tau"),
        ("fedavg", {"lr": 0.002}, "25 L tau"),
        ("fedavg", {"lr": 0.001, "server_lr": 0.5}, "server_lr = 1"),
        ("fedsps", {"gamma_b": 0.001, "c": 50.0}, "gamma_b < 1 / "),
        ("fedsps", {"gamma_b": 0.001, "l_star": -1.0}, "l_star = 0"),
    ],
)
def test_conditions_of_theorem_18(name, parameters, condition):
    assert condition in unmet(FEDSPS_BOUNDS["18"].conditions(BOUNDED, ALGORITHMS.create(name, parameters), 25))


def test_variances_of_theorem_18_are_those_of_every_point():
    problem = alike()
    values = [problem.value(problem.start(0)), 1.0]
    curve, setting = pd.DataFrame({"loss": values}), Setting(clients=4, rounds=5, local_steps=2, batch=1)
    c, rng = FEDSPS_BOUNDS["18"].constants(problem, setting, curve), np.random.default_rng(0)
    assert c.L == pytest.approx(4 + 6) and c.mu == pytest.approx(1 - 1.5) and (c.n, c.tau) == (4, 2)
    for x in 10 * rng.standard_normal((5, 12)):
        means = problem.full_batch(np.arange(4)).grad(x)
        draws = np.array([problem.batch(np.arange(4), np.full((4, 1), j)).grad(x) for j in range(10)])
        assert ((draws - means) ** 2).sum(axis=-1).mean(axis=0).max() == pytest.approx(c.sigma2)
        assert ((means - means.mean(axis=0)) ** 2).sum(axis=1).mean() == pytest.approx(c.zeta2)
    near = rng.standard_normal((100, 12)) / 2
    assert c.gap >= values[0] - min(problem.value(x) for x in near)
    with pytest.raises(NotCovered, match="the same at every point"):
        FEDSPS_BOUNDS["18"].constants(alike(spread=0.5), setting, curve)


def test_constants_and_what_the_theorems_are_not_about():
    problem = create_problem()
    algorithm, setting, curve = run(problem, c=8.0)
    c = FEDSPS_BOUNDS["3(a)"].constants(problem, setting, curve)
    assert (c.mu, c.L, c.tau) == pytest.approx((1, 4, 2)) and c.noise == pytest.approx(problem.value(problem.optimum.x))
    for other in (create_problem(spread=1.2), create_problem(convexity="non-convex"), quadratic(noise=0.0)):
        with pytest.raises(NotCovered, match="spread < 1"):
            FEDSPS_BOUNDS["3(a)"].constants(other, setting, curve)
    with pytest.raises(UserError, match="problems of kind similar, not quadratic"):
        FEDSPS_BOUNDS["6(a)"].validate({"kind": "quadratic"}, "fedsps", setting)
    with pytest.raises(UserError, match="record local_loss"):
        FEDSPS_BOUNDS["3(a)"].validate({"kind": "similar"}, "fedsps", Setting(clients=2, rounds=1, metrics=METRICS))
    FEDSPS_BOUNDS["3(b)"].validate({"kind": "similar"}, "fedsps", Setting(clients=2, rounds=1))
    with pytest.raises(NotCovered, match="4 tau"):
        FEDSPS_BOUNDS["3(b)"].compare(algorithm, problem, setting, curve)
    assert set(NAMES) <= set(THEOREMS)
