"""Clients that are not always available: long absences, and rounds without clients."""

import numpy as np
import pytest

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing import transcriptions
from fedatlas.testing.transcriptions import PlainRun
from tests.helpers import example, logistic


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("fedawe", {"clip": 0.05}),
        ("fedawe", {"report": "mean"}),
        ("fedawe", {"report": "mean", "clip": 0.05, "server_lr": 0.5}),
        ("fedau", {"cutoff": 2}),
        ("fedau", {"cutoff": 1}),
        ("f3ast", {"beta": 0.5, "r0": 0.3}),
        ("f3ast", {"beta": 0.1, "r0": "p"}),
        ("mifa", {"server_lr": 0.5}),
        ("fedvarp", {"server_lr": 0.5}),
        ("fedavg-known-p", {"server_lr": 0.5}),
    ],
    ids=str,
)
def test_options_equal_the_transcription_over_long_absences(name, parameters):
    problem = logistic()
    spec = {"kind": "interleaved-sine", "p": [0.6, 0.14, 0.2, 0.12, 0.3], "period": 8}
    setting = Setting(clients=5, local_steps=2, rounds=40, batch=2, participation=spec)
    simulation = Simulation(example(name, **parameters), problem, setting, seed=2)
    run = PlainRun(problem, setting, 2, name)
    assert any(not len(run.S(t)) for t in range(40))
    values = {f: getattr(simulation.algorithm, f) for f in simulation.algorithm.options()}
    for t, expected in enumerate(transcriptions.find(name)(run, **values)):
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, expected, rtol=1e-9, atol=1e-11, err_msg=f"round {t}")
