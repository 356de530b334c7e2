"""FedADMM: its default server step, |S|/m, under partial participation."""

import numpy as np
import pytest

from fedatlas.federation import problems
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import example, logistic

CENTERS, CURVATURES = np.arange(20.0), 1.0 + np.arange(20) % 3
OPTIMUM = CURVATURES @ CENTERS / CURVATURES.sum()
QUADRATICS = {"kind": "quadratic", "centers": CENTERS[:, None].tolist(), "curvatures": CURVATURES.tolist()}


def distances(participation, rounds, problem=None, **parameters):
    setting = Setting(clients=20, local_steps=20, rounds=rounds, batch=None, participation=participation)
    algorithm = example("fedadmm", **{"rho": 1.0, "lr": 0.2} | parameters)
    simulation, away = Simulation(algorithm, problem or problems.create(QUADRATICS, 20), setting, seed=0), []
    for _ in range(rounds):
        simulation.run_round()
        away.append(abs(float(simulation.output[0]) - OPTIMUM))
    return away


@pytest.mark.parametrize(
    "participation", [{"kind": "uniform", "count": 2}, {"kind": "uniform", "count": 5}, {"kind": "bernoulli", "p": 0.2}]
)
def test_converges_though_few_clients_are_active(participation):
    away = distances(participation, 600)
    assert away[-1] < 1e-6 and max(away) < CENTERS.max()


def test_with_a_server_step_of_1_new_clients_add_what_all_have_learnt_once_more():
    assert max(distances({"kind": "uniform", "count": 1}, 20, server_lr=1.0)) > 2 * CENTERS.max()


def test_under_full_participation_the_default_is_a_server_step_of_1_and_the_method_is_feddyn():
    setting = Setting(clients=5, local_steps=3, rounds=5, batch=2)
    choices = [("fedadmm", {}), ("fedadmm", {"server_lr": 1.0}), ("feddyn", {})]
    ends = [Simulation(example(name, rho=0.3, alpha=0.3, **p), logistic(), setting, 1).run().x for name, p in choices]
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_allclose(ends[0], ends[2], rtol=1e-10, atol=1e-12)
