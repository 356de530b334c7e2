"""Algorithms whose clients have models of their own, and what the server reports of itself."""

from dataclasses import dataclass

import numpy as np
import pytest

import fedatlas
from fedatlas.errors import UserError
from fedatlas.federation.algorithms.ditto import Ditto
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.algorithms.fedrep import FedRep
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing import instances
from fedatlas.testing.transcriptions import PlainRun
from tests.helpers import logistic

OPTIONS = {"clients": 5, "rounds": 6, "batch": 2, "local_steps": 3, "participation": {"kind": "uniform", "count": 3}}


def simulate(algorithm, problem=None, **options):
    return Simulation(algorithm, problem or logistic(), Setting(**OPTIONS | options), seed=3)


def personal_models(simulation):
    simulation.run()
    return simulation.algorithm.client_model(simulation.s, simulation.clients.table.read(np.arange(5)))


@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_dittos_models_equal_a_plain_loop_and_its_output_is_fedavgs(weight):
    simulation = simulate(Ditto(lr=0.3, weight=weight))
    models = personal_models(simulation)
    run = PlainRun(simulation.problem, simulation.setting, 3, "ditto")
    x, v = run.x0, [run.x0] * 5
    for t in range(run.T):
        changes = []
        for i in run.S(t):
            y = x
            for k in range(run.K):
                v[i] = v[i] - 0.3 * (run.g(t, k, i, v[i]) + weight * (v[i] - x))
                y = y - 0.3 * run.g(t, k, i, y)
            changes.append(y - x)
        x = x + np.mean(changes, axis=0)
    assert np.abs(models - v).max() < 1e-12
    assert (simulation.output == simulate(FedAvg(lr=0.3)).run().x).all()


def test_a_model_without_layers_has_no_head():
    linear = instances.network("linear")
    for problem in (logistic(), linear):
        with pytest.raises(UserError, match="has no 'head', so head must be given"):
            simulate(FedRep(lr=0.1), problem)
    with pytest.raises(UserError, match="leaves no body"):
        simulate(FedRep(lr=0.1, head=7))
    with pytest.raises(UserError, match="leave none for the heads"):
        simulate(FedRep(lr=0.1, head=2), local_steps=1)


@dataclass(frozen=True, kw_only=True)
class Counting(FedAvg):
    """FedAvg that counts its rounds."""

    reports = ("count", "doubled")

    def count(self, s, n):
        return n.round

    def doubled(self, s, n):
        return 2 * n.round * n.clients


def test_what_the_server_reports_is_a_column_of_evaluations():
    history = simulate(Counting(lr=0.1), eval_rounds=2).run()
    assert [row["count"] for row in history.rows] == [0, 2, 4, 6]
    assert history.rows[-1]["doubled"] == 60
    assert (history.x == simulate(FedAvg(lr=0.1)).run().x).all()
    frames = [fedatlas.train(Counting(lr=0.1), logistic(), rounds=2, batch=1)] * 2
    assert fedatlas.plot(frames, x="doubled", y="loss").get_xlabel() == "doubled"
    with pytest.raises(UserError, match="it must be a cost"):
        fedatlas.plot(frames, x="epsilon")
