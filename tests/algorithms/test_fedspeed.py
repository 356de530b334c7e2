"""FedSpeed and its baselines under the conditions of its figures, and the equations of its analysis."""

import numpy as np
import pytest

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
