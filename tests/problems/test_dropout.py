"""Dropout in networks: masks are functions of seed, round, client and sample, and of nothing else."""

import threading

import numpy as np
import pytest
import torch
from torch import nn

import fedatlas
from fedatlas.errors import UserError
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.engine.checkpoint import Checkpointer, Stopped
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.federation.networks.dropout import KEYS, Dropout

ROWS = 24


RNG = np.random.default_rng(0)


DATA = RNG.standard_normal((ROWS, 5)), RNG.integers(3, size=ROWS)


SIZES = np.split(np.arange(ROWS), [4, 10, 16])


class Functional(nn.Module):
    """A module that calls dropout as a function."""

    def __init__(self):
        super().__init__()
        self.inside, self.outside = nn.Linear(5, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.outside(nn.functional.dropout(torch.tanh(self.inside(x)), 0.4, self.training))


def layers(p=0.4):
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Dropout(p), nn.Linear(8, 3), nn.Dropout(p))


def network(build=layers, **options):
    return fedatlas.Network(DATA, build, partition=SIZES, dtype="float64", **options)


def simulation(build=layers, **options):
    execution = {name: options.pop(name) for name in ("block", "threads") if name in options}
    setting = Setting(**{"clients": 4, "rounds": 4, "local_steps": 2, "batch": 3, "eval_rounds": 1} | options)
    return Simulation(FedAvg(lr=0.5), network(build), setting, 1, **execution)


SETTINGS = {
    "local steps": {},
    "epochs": {"local_steps": None, "local_epochs": 2},
    "asynchronous": {"driver": {"kind": "asynchronous", "buffer": 2, "concurrency": 3}},
}


@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("build", [layers, Functional])
def test_masks_depend_on_seed_round_and_client_alone(build, options, tmp_path):
    expected = simulation(build, **options).run().x
    for execution in ({"block": 3}, {"block": 4}, {"threads": 3}):
        assert torch.equal(simulation(build, **options, **execution).run().x, expected)
    stop = threading.Event()
    stop.set()
    keep = Checkpointer(tmp_path / "a.state", "me", stop=stop)
    with pytest.raises(Stopped):
        run_simulations([simulation(build, **options)], keep=lambda pairs: keep.watch(1, pairs))
    later = Checkpointer(tmp_path / "a.state", "me")
    assert torch.equal(
        run_simulations([simulation(build, **options)], keep=lambda pairs: later.watch(1, pairs))[0].x, expected
    )


def test_another_seed_round_and_client_have_other_masks():
    run = simulation()
    draws = np.concatenate([run.sampler.draw(t, np.arange(4), 2).ravel() for t in range(20)])
    assert len(np.unique(draws // ROWS)) == len(draws) and (draws // ROWS < KEYS).all()


def test_a_gradient_is_that_of_the_masked_network():
    problem = network()
    draws = np.array([[3 + ROWS * 17, 3 + ROWS * 99, 5 + ROWS * 17]])
    x = problem.start(1)
    keys = torch.tensor([17, 99, 17])
    module = layers().double()
    nn.utils.vector_to_parameters(x, module.parameters())
    with Dropout(keys):
        masks = [module[2](torch.ones(3, 8).double()), module[4](torch.ones(3, 3).double())]
    assert torch.equal(masks[0][0], masks[0][2]) and not torch.equal(masks[0][0], masks[0][1])
    data, labels = (torch.tensor(DATA[k][[3, 3, 5]]) for k in (0, 1))
    hidden = torch.tanh(module[0](data)) * masks[0]
    nn.functional.cross_entropy(module[3](hidden) * masks[1], labels).backward()
    expected = torch.cat([p.grad.reshape(-1) for p in module.parameters()])
    batch = problem.batch(np.array([0]), draws)
    assert torch.allclose(batch.grad(x)[0], expected, rtol=1e-10, atol=1e-14)
    stacked = problem.stacked.value_and_grad(x[None], *(v[None] for v in problem.inputs(problem.train.index(draws[0]))))
    assert torch.allclose(stacked[1][0], expected, rtol=1e-10, atol=1e-14)
    parts = [problem.batch(np.array([0]), draws[:, [k]]).grad(x)[0] for k in range(3)]
    assert torch.allclose(sum(parts) / 3, expected, rtol=1e-10, atol=1e-14)  # alone or beside others


def test_evaluations_and_full_gradients_drop_nothing():
    whole, plain = network(), network(lambda: layers(0.0))
    x, ids = plain.start(1), np.arange(4)
    assert whole.variants == KEYS and plain.variants == 1
    assert whole.evaluate(x) == plain.evaluate(x)
    np.testing.assert_array_equal(whole.row_scores(x, "train", None)[0], plain.row_scores(x, "train", None)[0])
    assert torch.allclose(whole.full_batch(ids).grad(x), plain.full_batch(ids).grad(x), rtol=1e-12, atol=1e-15)


def test_samples_that_are_no_first_axis_are_refused():
    class Late(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(5, 3)

        def forward(self, x):
            return self.layer(nn.functional.dropout(x.T, 0.5).T)

    with pytest.raises(UserError, match=r"dropout of a tensor of shape \(5, 3\); its first axis"):
        network(Late).batch(np.array([0]), np.array([[24, 25, 26]])).grad(torch.zeros(18).double())
