"""Theorem 4.4 of FedSpeed: its constants, conditions and bound, by hand and on runs."""

import dataclasses
import math
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.view import AlgorithmView
from fedatlas.federation import problems
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.results.comparing.theorems import compare_runs
from fedatlas.theory.fedspeed import FEDSPEED_BOUNDS, FedSpeedConstants
from fedatlas.theory.theorem import unmet
from tests.claims.fixtures import view

SPEC = {"kind": "quadratic", "centers": [[1.0], [-3.0]], "curvatures": [2, 2], "start_scale": 0}
SPEC |= {"noise": 0.5, "samples": 8}
CONSTANTS = FedSpeedConstants(L=2, sigma_g=3, sigma_l=0.5, m=2, K=4, gap=7, local=11, common=5)
CHOICE = {"lr": 1 / 500, "lam": 4 / 500, "rho": 0.1, "alpha": 0.5, "normalise": False, "mean": "all"}
AXIS, THEOREM = "problem.noise", FEDSPEED_BOUNDS["4.4"]
RECORD = ["correction", "mean_correction"]


def algorithm(**parameters):
    return ALGORITHMS.create("fedspeed-z", CHOICE | parameters)


def curves(rounds=6, seeds=(0, 1), spec=SPEC, batch=1, options=MappingProxyType({}), **parameters):
    """Runs of the algorithm on the quadratics, as rows of curves, and their ExperimentView."""
    setting = {"clients": 2, "local_steps": 4, "rounds": rounds, "batch": batch, "record": RECORD}
    setting |= {"eval_rounds": 1, "metrics": [THEOREM.over_rounds]} | options
    result = []
    for seed in seeds:
        run = Simulation(algorithm(**parameters), problems.create(spec, 2), Setting(**setting), seed).run()
        result.append(pd.DataFrame(run.rows).assign(algorithm="it", seed=seed, status=run.status, **{AXIS: 0.5}))
    entries = {"it": AlgorithmView("fedspeed-z", "FedSpeed, z", set=CHOICE | parameters)}
    output = view(axes=(AXIS,), tune=(), metric="gradient_norm", problem=spec, setting=setting, algorithms=entries)
    return output, pd.concat(result, ignore_index=True)


def test_the_bound_by_hand():
    """Equations 6 and 7, term by term, and what the other interpretations change."""
    a, T = algorithm(), np.array([10.0])
    kappa = 0.5 - 3 * 0.25 * 4 * 0.01 - 1536 / 500**2 * 4 * 4
    assert THEOREM.kappa(CONSTANTS, a) == pytest.approx(kappa, rel=1e-14)
    lam, lr = 4 / 500, 1 / 500
    terms = [2 * 7 / (lam * kappa * 10), 64 * lr * 4 * 4 / (kappa * 2 * 10) * 22, 32 * lam**2 * 4 / (kappa * 10) * 5]
    drift, ascent = 32 * lam * lr**2 * 4 * 4 * (16 * 9 + 0.25), lam * 0.25 * 4 * 0.01 * (27 + 0.25)
    phi = (drift + ascent) / kappa
    assert FEDSPEED_BOUNDS["4.4"].bound(CONSTANTS, a, T) == pytest.approx(sum(terms) + phi, rel=1e-13)
    scaled = terms[0] + terms[1] * lr + terms[2] + phi / lam
    assert FEDSPEED_BOUNDS["4.4 scaled"].bound(CONSTANTS, a, T) == pytest.approx(scaled, rel=1e-13)
    r = 1 / 4
    squares = sum((r * (1 - r) ** k) ** 2 for k in range(4)) / (1 - (1 - r) ** 4) ** 2
    noise = 2 * lam * 0.25 * squares / (2 * 2 * kappa)
    assert FEDSPEED_BOUNDS["4.4 with noise"].bound(CONSTANTS, a, T) == pytest.approx(scaled + noise, rel=1e-13)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({}, None),
        ({"normalise": True}, "normalise"),
        ({"rho": 1.0}, "rho <="),
        ({"lr": 1 / 200, "lam": 1 / 50}, "lr <="),
        ({"lam": 1 / 100}, "K >="),
        ({"lr": 1 / 222, "lam": 4 / 222, "rho": 0.4}, "kappa"),
    ],
)
def test_conditions(parameters, word):
    result = unmet(THEOREM.conditions(CONSTANTS, algorithm(**parameters), 10))
    assert result is None if word is None else word in result


def test_constants_of_a_run():
    _, rows = curves()
    problem = problems.create(SPEC, 2)
    curve = rows[rows["seed"] == 1]
    setting = Setting(clients=2, local_steps=4, rounds=6, batch=1)
    c = THEOREM.constants(problem, setting, curve)
    assert (c.L, c.m, c.K) == (2, 2, 4)
    assert c.sigma_g == pytest.approx(4, rel=1e-12)  # gradients 2 (x - u_i), with centres at 2 from their mean
    assert c.sigma_l == pytest.approx(math.sqrt((problem.noise**2).mean()), rel=1e-12)
    assert THEOREM.constants(problem, dataclasses.replace(setting, batch=None), curve).sigma_l == 0
    simulation = Simulation(algorithm(), problem, setting, seed=1)
    simulation.run_round()
    corrections = simulation.clients.table.read(np.arange(2)).c
    assert c.local == pytest.approx((corrections**2).mean(), rel=1e-12)
    assert c.common == pytest.approx(corrections.mean() ** 2, rel=1e-9)
    assert c.gap == pytest.approx((float(simulation.output[0]) + 1) ** 2, rel=1e-9)


def test_what_is_measured():
    output, rows = curves()
    first, second = compare_runs(THEOREM, output, "it", rows).values()
    assert list(first.counted) == [2, 3, 4, 5, 6] and first.measured.shape == second.bound.shape == (5,)
    norms = rows[rows["seed"] == 0]["gradient_norm"].to_numpy()
    assert first.measured == pytest.approx([(norms[1:T] ** 2).sum() / T for T in range(2, 7)])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"setting": {"participation": {"kind": "uniform", "count": 1}}}, "full participation"),
        ({"algorithms": {"it": AlgorithmView("fedspeed", "F", set=CHOICE)}}, "about fedspeed-z, not fedspeed"),
        ({"algorithms": {"it": AlgorithmView("fedspeed-z", "F", set=CHOICE | {"normalise": True})}}, "normalise"),
        ({"setting": {"eval_rounds": 2}}, "eval_rounds: 1"),
        ({"setting": {"metrics": None}}, "speaks of every round: add gradient_norm_rounds_mean_square to metrics"),
        ({"setting": {"record": ["correction"]}}, "record: .*mean_correction"),
    ],
)
def test_runs_that_the_theorem_is_not_about(change, word):
    result, rows = curves()
    change = {k: {**result.setting, **v} if k == "setting" else v for k, v in change.items()}
    with pytest.raises(UserError, match=word):
        compare_runs(THEOREM, dataclasses.replace(result, **change), "it", rows)
