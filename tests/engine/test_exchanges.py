"""Exchanges are recorded as they happen, and costs are their means over clients."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import example, logistic, quadratic

SETTINGS = [
    {"local_steps": 3, "batch": 2},
    {"local_steps": 3, "batch": 2, "participation": {"kind": "uniform", "count": 3}},
    {"local_epochs": 2, "batch": 4},
    {"batch": None},
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", algorithms.names())
def test_costs_are_means_over_the_recorded_exchanges(name):
    tried = 0
    for problem in (logistic(), logistic(heterogeneous=True), quadratic(clients=5)):
        for options in SETTINGS:
            try:
                algorithm = example(name, lr=0.01, p=0.4).with_constants(problem)
                simulation = Simulation(algorithm, problem, Setting(clients=5, rounds=3, **options))
            except UserError:  # the algorithm is not defined here
                continue
            tried += 1
            for t in range(3):
                before = dict(simulation.costs)
                simulation.run_round()
                active, exchanges = simulation.participants.active(t), simulation.exchanges
                assert [exchange.hook for exchange in exchanges] == ["before", "client"][-len(exchanges) :]
                assert all(sorted(exchange.ids) == active.tolist() for exchange in exchanges)
                for cost, field in (("vectors_down", "down"), ("gradients", "gradients"), ("samples", "samples")):
                    means = [getattr(exchange, field).mean() for exchange in exchanges]
                    if algorithm.single_client() and field != "down":  # costs are those of the client that is drawn
                        means[-1] = getattr(exchanges[-1], field).sum()
                    assert simulation.costs[cost] - before[cost] == pytest.approx(sum(means), rel=1e-12)
                sent = [exchange.up.max() for exchange in exchanges]
                if simulation.mixing is None:
                    assert simulation.costs["vectors_up"] - before["vectors_up"] == pytest.approx(sum(sent))
    assert tried


def test_clients_record_their_own_work():
    problem = logistic(heterogeneous=True)
    simulation = Simulation(example("fedavg"), problem, Setting(clients=5, rounds=1, local_epochs=1, batch=4))
    simulation.run_round()
    (exchange,) = simulation.exchanges
    sizes = np.asarray(problem.partition.sizes)[exchange.ids]
    assert exchange.samples.tolist() == sizes.tolist() and exchange.gradients.tolist() == (-(-sizes // 4)).tolist()
    assert (exchange.down == 1).all() and (exchange.up == 1).all()
