"""FedSpeed and its baselines under the conditions of its figures, and the equations of its analysis."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.algorithms.fedspeed_analysis import FedSpeedAnalysis
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing import transcriptions
from fedatlas.testing.transcriptions import PlainRun
from tests.helpers import example, logistic, quadratic

BASELINES = ("fedavg", "fedprox", "fedadam", "scaffold", "fedcm", "feddyn", "fedadmm")


def run(name, problem=None, **parameters):
    setting = Setting(clients=5, local_steps=4, rounds=6, batch=2, participation={"kind": "uniform", "count": 3})
    return Simulation(example(name, **parameters), problem or logistic(), setting, seed=1).run()


@pytest.mark.parametrize(
    "name, parameters", [*((name, {}) for name in BASELINES), *(("fedspeed", {"mean": m}) for m in ("active", "all"))]
)
def test_equals_the_transcription_under_the_conditions_of_the_figures(name, parameters):
    """With few active clients, step sizes that decay, and whole passes over the clients' data."""
    uniform, decay = {"kind": "uniform", "count": 3}, {"kind": "exponential", "decay": 0.7}
    setting = Setting(clients=5, rounds=6, local_epochs=2, batch=5, participation=uniform, schedule=decay)
    problem = logistic()
    assert set(problem.partition.sizes) == {12}
    simulation = Simulation(example(name, **parameters), problem, setting, seed=3)
    values = {f: getattr(simulation.algorithm, f) for f in simulation.algorithm.options()}
    for t, expected in enumerate(transcriptions.find(name)(PlainRun(problem, setting, 3, name), **values)):
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, expected, rtol=1e-10, atol=1e-12, err_msg=f"round {t}")
    assert t == 5


EQUATIONS = [f"equation_{number}" for number in (2, 3, 4, 5)]


def errors(participation, **parameters):
    """The largest relative errors of the equations of the analysis, on noisy heterogeneous quadratics."""
    setting = Setting(clients=5, local_steps=4, rounds=20, participation=participation, record=EQUATIONS)
    algorithm = example("fedspeed-z", lam=0.5, normalise=False, **parameters)
    last = Simulation(algorithm, quadratic(), setting, seed=2).run().rows[-1]
    return {name: last[f"{name}_max"] for name in EQUATIONS}


@pytest.mark.parametrize("mean", ["active", "all"])
def test_equations_of_the_analysis(mean):
    """All hold under full participation; 4 and 5 speak of all clients and fail where some are away."""
    assert max(errors({"kind": "full"}, mean=mean).values()) < 1e-11
    sampled = errors({"kind": "uniform", "count": 2}, mean=mean)
    assert max(sampled["equation_2"], sampled["equation_3"]) < 1e-11
    assert min(sampled["equation_4"], sampled["equation_5"]) > 0.1


@pytest.mark.parametrize("wrong", ["weights", "quasi-gradient"])
def test_equations_fail_for_another_method(wrong, monkeypatch):
    if wrong == "weights":  # plain means of the quasi-gradients
        monkeypatch.setattr(FedSpeedAnalysis, "weights", lambda self, K: ([0.5 / K] * int(K), 0.5))
    else:  # the gradient at the iterate alone
        monkeypatch.setattr(FedSpeedAnalysis, "combined", lambda self, gradients: gradients[0])
    assert min(errors({"kind": "full"}).values()) > 1e-4


def test_the_analysis_moves_x_as_fedspeed_does():
    """Both means, the same iterates bit by bit; z is another sequence, which costs no communication."""
    setting = Setting(clients=5, local_steps=4, rounds=6, batch=2)
    for mean in ("active", "all"):
        pair = [
            Simulation(example(name, mean=mean), logistic(), setting, seed=1) for name in ("fedspeed", "fedspeed-z")
        ]
        histories = [item.run() for item in pair]
        np.testing.assert_array_equal(pair[0].s.x, pair[1].s.x)
        assert np.linalg.norm(histories[0].x - histories[1].x) > 1e-3
        for cost in ("gradients", "vectors_up", "vectors_down"):
            assert histories[0].rows[-1][cost] == histories[1].rows[-1][cost]


@pytest.mark.parametrize("option", ["clip", "decoupled"])
def test_the_analysis_is_of_algorithm_1(option):
    with pytest.raises(UserError, match="without clip and decoupled weight decay"):
        example("fedspeed-z", **{option: 0.1})
