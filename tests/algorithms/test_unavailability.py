"""Clients that are not always available: long absences, and rounds without clients."""

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.federation import algorithms, problems
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


def test_mifa_moves_while_no_client_is_available(tmp_path):
    """MIFA moves by remembered gradients with the step size of the round; the other algorithms do not move."""
    path = tmp_path / "trace.csv"
    path.write_text("round,client,available\n0,0,1\n0,1,1\n1,0,0\n2,0,0\n")
    problem = problems.create({"kind": "quadratic", "centers": [[0.0], [100.0]]}, 2)
    participation, schedule = {"kind": "trace", "file": str(path)}, {"kind": "exponential", "decay": 0.5}
    setting = Setting(clients=2, rounds=3, batch=None, participation=participation, schedule=schedule)
    for name, moves in (("mifa", True), ("fedvarp", False), ("fedavg", False), ("fedawe", False)):
        simulation = Simulation(algorithms.create(name, {"lr": 0.1}), problem, setting, seed=0)
        xs = [float(simulation.output[0])]
        for _ in range(3):
            simulation.run_round()
            xs.append(float(simulation.output[0]))
        steps = 0.1 * (50 - xs[0]) * np.array([1, 0.5, 0.25])
        np.testing.assert_allclose(np.diff(xs), steps if moves else [steps[0], 0, 0], rtol=1e-9, atol=1e-12)


def test_fedavg_with_known_p_refuses_unknown_probabilities(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("round,client,available\n0,0,1\n")
    setting = Setting(clients=5, rounds=1, participation={"kind": "trace", "file": str(path)})
    with pytest.raises(UserError, match="probabilities of this participation are unknown"):
        Simulation(example("fedavg-known-p"), logistic(), setting).run()
