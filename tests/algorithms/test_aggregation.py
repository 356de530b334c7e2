"""Weighted means, rows that the server gathers, and products with Hessians."""

import numpy as np
import pytest

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.channels import Rows
from fedatlas.federation.engine import resources
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import logistic, quadratic, softmax, unequal_shares

EPOCHS = {"clients": 5, "rounds": 3, "local_epochs": 2, "batch": 4, "participation": {"kind": "uniform", "count": 4}}


@pytest.mark.parametrize("by", ["equal", "size"])
def test_fednova_divides_changes_by_the_steps_of_each_client(by):
    problem = unequal_shares(logistic())
    simulation = Simulation(ALGORITHMS.create("fednova", {"lr": 0.1, "weights": by}), problem, Setting(**EPOCHS), 3)
    x = simulation.x0
    for t in range(3):
        active = simulation.participants.active(t)
        sizes = problem.partition.sizes[active]
        weights = sizes / sizes.sum() if by == "size" else np.full(len(active), 1 / len(active))
        directions, counts = [], []
        for i, passes in zip(active, simulation.sampler.passes(t, active, 2), strict=True):
            y, k = x, 0
            for rows in passes:
                for start in range(0, len(rows), 4):
                    y = y - 0.1 * problem.batch(np.array([i]), rows[None, start : start + 4]).grad(y)[0]
                    k += 1
            directions.append((y - x) / k)
            counts.append(k)
        assert len(set(counts)) > 1
        x = x + (weights @ counts) * (weights @ directions)
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, x, rtol=1e-12)


def test_gathered_rows_are_in_the_order_of_the_clients():
    problem = unequal_shares(logistic())
    cohorts = []

    class Median(ALGORITHMS.get("median")):
        def client(self, s, i, steps):
            message, state = super().client(s, i, steps)
            return message.replace(change=Rows(message.change.value * 0 + steps.clients[:, None])), state

        def server(self, s, mean, n):
            cohorts.append(mean.change[:, 0].tolist())
            return super().server(s, mean, n)

    for block in (1, 2, None):
        cohorts.clear()
        simulation = Simulation(Median(lr=0.1), problem, Setting(**EPOCHS), 3, block)
        simulation.run()
        assert cohorts == [simulation.participants.active(t).tolist() for t in range(3)]


def test_what_messages_leave_out_is_estimated():
    channel = {"kind": "top-k", "count": 1, "error_feedback": True}
    setting = Setting(clients=50, rounds=2, batch=None, participation={"kind": "uniform", "count": 40}, channel=channel)
    simulation = Simulation(ALGORITHMS.create("fedavg", {"lr": 0.1}), quadratic(50, 200), setting)
    assert 40 * 8 * 200 <= resources.estimate_memory(simulation)[1] <= 1.25 * 40 * 8 * 200


@pytest.mark.parametrize("make", [logistic, softmax, quadratic], ids=lambda make: make.__name__)
def test_products_with_hessians_are_derivatives_of_gradients(make):
    problem, clients = make(), np.array([0, 2, 3])
    assert problem.offers("hessian")
    rng, h = np.random.default_rng(0), 1e-5
    y, v = rng.standard_normal((2, 3, problem.dim))
    batch = problem.full_batch(clients)
    differences = (batch.grad(y + h * v) - batch.grad(y - h * v)) / (2 * h)
    np.testing.assert_allclose(batch.hessian_product(y, v), differences, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(batch.hessian_product(y[0], v[0])[0], batch.hessian_product(y, v)[0], rtol=1e-12)
