"""Gradients of several clients in one pass, as a GPU computes them, against those of one client after another."""

import numpy as np
import pytest
import torch
from torch import nn

from fedatlas.federation.networks.losses import CrossEntropy
from fedatlas.federation.networks.stacked import Convolutions, Stacked
from tests.helpers import network

ARCHITECTURES = ["linear", "mlp", "lenet", {"kind": "cnn", "channels": 4, "hidden": 5}]
OPTIONS = {"l2": {"l2": 0.1}, "augmented": {"augment": {"crop": 2, "flip": True}}}
CASES = [
    *((architecture, name) for architecture in ARCHITECTURES for name in OPTIONS),
    *(pytest.param("resnet18", name, marks=pytest.mark.slow) for name in OPTIONS),
]


@pytest.mark.parametrize(("architecture", "name"), CASES, ids=str)
def test_one_pass_gives_the_gradients_of_each_client(architecture, name):
    problem = network(architecture, side=8, **OPTIONS[name])
    y = torch.stack([problem.start(seed) for seed in range(3)])
    rows = np.random.default_rng(0).integers(60 * problem.variants, size=(3, 5))
    batch = problem.batch(np.arange(3), rows)
    for point in (y, y[0]):
        for result, expected in zip(batch._in_one_pass(point), batch._one_by_one(point), strict=True):
            np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(3, 4, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
        nn.Conv2d(3, 4, 1, bias=False),
        nn.Conv2d(3, 4, 3, padding="same"),
        nn.Conv2d(3, 6, 3, groups=3),
        nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"),
    ],
    ids=str,
)
def test_convolutions_of_copies_are_those_of_torch(layer):
    layer = layer.double()
    x = torch.randn(2, 3, 7, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with Convolutions():
        made = layer(x)
    torch.testing.assert_close(made, layer(x), rtol=1e-12, atol=1e-12)


def test_a_block_is_one_client_on_a_processor_and_unequal_clients_go_one_by_one():
    problem = network("mlp")
    assert problem.block_rows == 1
    equal, unequal = problem.batch(np.arange(2), np.arange(10).reshape(2, 5)), problem.batch([0], np.arange(5)[None])
    assert not equal.stackable
    problem._block_rows = 8
    assert equal.stackable and unequal.stackable
    unequal.rows.append(unequal.rows[0][:4])
    assert not unequal.stackable


def test_modules_that_branch_on_numbers_are_computed_one_by_one():
    class Branching(nn.Linear):
        def forward(self, x):
            return super().forward(x) if x.sum() > 0 else x

    samples = torch.ones(1, 4), torch.tensor([1])
    assert Stacked(nn.Linear(4, 4), CrossEntropy).runs(*samples)
    assert not Stacked(Branching(4, 4), CrossEntropy).runs(*samples)
