"""Batch norm whose running statistics are coordinates of x: averaged, sent and counted like parameters."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fedatlas
from fedatlas.errors import UserError
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation

ROWS, LR, K, T = 24, 0.1, 3, 4
RNG = np.random.default_rng(0)
DATA = RNG.standard_normal((ROWS, 5)) * 3 + 1, RNG.integers(3, size=ROWS)
SPLIT = np.split(np.arange(ROWS), [8, 16])


def layers():
    return nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3))


def network(build=layers, **options):
    return fedatlas.Network(DATA, build, partition=SPLIT, dtype="float64", **{"batch_norm": "averaged"} | options)


def test_fedavg_is_torchs_training_with_states_averaged():
    """With torch's momentum equal to the step size, all that a module's state_dict holds agrees."""
    run = Simulation(FedAvg(lr=LR), network(), Setting(clients=3, rounds=T, local_steps=K, batch=4), 1)
    history = run.run()
    server = layers().double()
    nn.utils.vector_to_parameters(run.x0[8:], server.parameters())
    for t in range(T):
        draws, models = run.sampler.draw(t, np.arange(3), K), []
        for i in range(3):
            module = copy.deepcopy(server).train()
            module[1].momentum = LR
            optimiser = torch.optim.SGD(module.parameters(), lr=LR)
            for rows in draws[i]:
                optimiser.zero_grad()
                F.cross_entropy(module(torch.tensor(DATA[0][rows])), torch.tensor(DATA[1][rows])).backward()
                optimiser.step()
            models.append(module.state_dict())
        numbers = [name for name in models[0] if "num_batches" not in name]
        server.load_state_dict(
            models[0] | {name: torch.stack([each[name] for each in models]).mean(0) for name in numbers}
        )
    expected = torch.cat([server[1].running_mean, server[1].running_var, *(p.reshape(-1) for p in server.parameters())])
    assert torch.allclose(run.output, expected, rtol=1e-9, atol=1e-12)
    scores = server.eval()(torch.tensor(DATA[0])).detach()
    assert history.rows[-1]["loss"] == pytest.approx(float(F.cross_entropy(scores, torch.tensor(DATA[1]))), rel=1e-10)


def test_statistics_are_the_first_coordinates_and_counted():
    problem = network()
    assert problem.dim == 5 * 4 + 4 + 8 + 4 * 3 + 3 + 8 and problem.shapes[:2] == [(4,), (4,)]
    assert problem.start(0)[:8].tolist() == [0] * 4 + [1] * 4
    assert problem.constant("head") == 15
    frame = fedatlas.train("fedavg", problem, rounds=2, local_steps=2, batch=4, lr=0.1)
    assert frame["bits_up"].iloc[-1] == 2 * 64 * problem.dim


@pytest.mark.parametrize(
    ("build", "options", "sentence"),
    [
        (layers, {"batch_norm": "refused"}, "the layer '1' is batch norm.*batch_norm = averaged"),
        (
            lambda: nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3, track_running_stats=False)),
            {},
            "depend on random numbers or on the samples beside|fails on data",
        ),
    ],
)
def test_other_batch_norm_is_refused(build, options, sentence):
    with pytest.raises(UserError, match=sentence):
        network(build, **options)


def test_a_minibatch_of_one_sample_is_refused():
    with pytest.raises(UserError, match="a minibatch of one sample has no statistics for batch norm"):
        fedatlas.train("fedavg", network(), rounds=1, local_steps=2, batch=1, lr=0.1)
