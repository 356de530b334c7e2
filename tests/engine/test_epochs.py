"""Local epochs: whole passes over each client's data, unequal numbers of steps, the same bits whatever the blocks."""

import numpy as np
import pytest

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.sampling.reshuffling import ReshufflingSampler
from fedatlas.testing.instances import UNEQUAL_SIZES, unequal_shares
from tests.helpers import example, logistic, softmax


def run(algorithm, problem, block=None, threads=1, **options):
    options = {"clients": 5, "local_epochs": 2, "rounds": 3, "batch": 4} | options
    return Simulation(algorithm, problem, Setting(**options), 1, block, threads).run()


def test_a_pass_sees_every_row_of_the_client_once():
    problem = unequal_shares(logistic())
    draws = ReshufflingSampler(problem, 5, 4, 0).passes(3, np.array([1, 3]), 2)
    for i, passes in zip((1, 3), draws, strict=True):
        assert passes.shape == (2, UNEQUAL_SIZES[i]) and (passes[0] != passes[1]).any()
        assert all((np.sort(item) == np.sort(problem.partition.client(i))).all() for item in passes)


@pytest.mark.parametrize("name", ["fedavg", "scaffold"])
def test_equals_a_plain_loop_over_clients(name):
    """As one would write it: batches of 4 and a smaller last one, an own number of steps for each client."""
    problem, lr = unequal_shares(logistic()), 0.1
    sampler = ReshufflingSampler(problem, 5, 4, 1)
    x, c, variates = problem.start(1), np.zeros(7), np.zeros((5, 7))
    for t in range(3):
        moves, changes = [], []
        for i in range(5):
            y, K = x, 0
            for one_pass in sampler.passes(t, np.array([i]), 2)[0]:
                for start in range(0, len(one_pass), 4):
                    rows = one_pass[start : start + 4]
                    a, b = problem.A[rows], problem.b[rows]
                    g = np.mean([-bj * aj / (1 + np.exp(bj * (aj @ y))) for aj, bj in zip(a, b, strict=True)], axis=0)
                    y = y - lr * (g + problem.l2 * y - (variates[i] - c if name == "scaffold" else 0))
                    K += 1
            assert K == 2 * -(-UNEQUAL_SIZES[i] // 4)
            moves.append(y - x)
            new = variates[i] - c + (x - y) / (K * lr)
            changes.append(new - variates[i])
            variates[i] = new
        x, c = x + np.mean(moves, axis=0), c + np.mean(changes, axis=0)
    history = run(example(name, lr=lr), problem)
    np.testing.assert_allclose(history.x, x, rtol=1e-12, atol=1e-14)
    assert history.rows[-1]["steps"] == pytest.approx(3 * 2 * 16 / 5)
    assert history.rows[-1]["samples"] == pytest.approx(3 * 2 * 60 / 5)
    assert history.rows[-1]["gradients"] == pytest.approx(3 * 2 * 16 / 5)


def test_full_gradients_are_one_step_a_pass():
    problem = unequal_shares(logistic())
    epochs = run(example("fedavg"), problem, batch=None)
    steps = run(example("fedavg"), problem, batch=None, local_epochs=None, local_steps=2)
    np.testing.assert_allclose(epochs.x, steps.x, rtol=1e-12)
    assert epochs.rows[-1]["steps"] == steps.rows[-1]["steps"] == 6


@pytest.mark.parametrize("make", [logistic, softmax])
def test_blocks_change_no_bit_of_large_batches(make):
    """Batches beyond ``gather_limit`` take another path, which blocks and threads must not choose."""
    problem = make()
    assert problem.gather_limit < 70
    ends = [run(example("fedavg"), problem, block=b, local_epochs=None, local_steps=2, batch=70).x for b in (1, 2, 5)]
    assert all((x == ends[0]).all() for x in ends)


def test_epochs_in_all_give_the_rounds():
    assert Setting(clients=2, local_epochs=5, epochs=2500).total_rounds == 500
    assert Setting(clients=2, local_epochs=20, epochs=2500).total_rounds == 125


def test_weights_of_an_averaged_output_add_up_to_one_whatever_the_numbers_of_steps():
    """All gradients are 0 and all iterates the start, of which every average is the start."""
    problem = unequal_shares(logistic())
    flat = Logistic(np.zeros_like(problem.A), problem.labels, partition=problem.partition)
    history = run(example("fedavg-averaged", lr=0.3, mu=1.0), flat)
    np.testing.assert_allclose(history.x, flat.start(1), rtol=1e-12)
