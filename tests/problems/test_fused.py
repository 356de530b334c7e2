"""Compiled passes of sequential networks against autograd through torch's own layers."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.networks.losses import LOSSES
from fedatlas.federation.networks.replica import Replica
from fedatlas.federation.networks.samples import Samples

CHANNELS_LAST = torch.channels_last


def passes(module, *shape):
    return Replica(module, shape).passes


def evaluate_both(module, x, y, loss="cross-entropy"):
    """(loss, gradient, outputs) of a minibatch x, y, by autograd and compiled."""
    rows, real = torch.arange(len(x)), str(x.dtype).removeprefix("torch.")
    samples, replica = Samples(x.numpy(), y.numpy(), dtype=real), Replica(module, x.shape[1:])
    start, compiled = replica.flat.clone(), replica.passes
    assert compiled is not None
    fused = compiled.value_and_grad(start, samples.source, rows, LOSSES[loss].logistic)
    fused = *fused, replica.outputs(start, samples, rows)
    replica.passes = None
    parts = [samples.gather(rows[:3]), samples.gather(rows[3:])]
    plain = replica.value_and_grad(start, parts, LOSSES[loss], len(x))
    return (*plain, replica.outputs(start, samples, rows)), fused


def agree(module, x, y, loss="cross-entropy"):
    plain, fused = evaluate_both(module.double(), x, y, loss)
    for a, b in zip(plain, fused, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-13)


def images(rng, *shape):
    return torch.from_numpy(rng.standard_normal(shape)).to(memory_format=CHANNELS_LAST)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["linear", {"kind": "linear", "bias": False}, "mlp", "lenet", "cnn"], ids=str)
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 9, 10), (2, 24, 24)], ids=str)
def test_architectures(kind, shape, loss):
    rng = np.random.default_rng(0)
    module = ARCHITECTURES.build(kind).build(shape, 1 if loss == "logistic" else 2)
    agree(module, images(rng, 5, *shape), torch.from_numpy(rng.integers(2, size=5)), loss)


@settings(max_examples=25, deadline=None)  # the first of them compiles
@given(
    st.integers(1, 5), st.integers(1, 18), st.integers(1, 5), st.integers(0, 3), st.integers(0, 5), st.integers(0, 5)
)
def test_convolutions_of_any_shape(inside, outside, k, padding, higher, wider):
    """Two of them: the second also has a gradient by its input."""
    rng = np.random.default_rng(inside + 10 * outside)
    height, width = (2 * k + max(2, k) + extra + 1 for extra in (higher, wider))
    convolutions = nn.Conv2d(inside, outside, k, padding=padding), nn.Conv2d(outside, inside, k, padding=padding)
    layers = [convolutions[0], nn.MaxPool2d(2), nn.ReLU(), convolutions[1], nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    x = images(rng, 4, inside, 2 * height, 2 * width)
    features = nn.Sequential(*layers)(x.float()).shape[1]
    agree(nn.Sequential(*layers, nn.Linear(features, 3)), x, torch.from_numpy(rng.integers(3, size=4)))


def test_the_first_of_equal_places_has_the_gradient():
    """A constant image without padding: all places of a window are equal."""
    torch.manual_seed(0)
    module = ARCHITECTURES.build("lenet").build((1, 32, 32), 3)
    agree(module, torch.ones(4, 1, 32, 32, dtype=torch.float64), torch.tensor([0, 1, 2, 0]))


def test_other_orders_are_left_to_autograd():
    """Dense layers on the last axis of images, ReLU before or behind all of them, a forward of its own."""

    class Twice(nn.Sequential):
        def forward(self, x):
            return 2 * super().forward(x)

    dense = nn.Linear(3, 2)
    for layers in ([nn.Linear(6, 4), nn.Flatten(), dense], [nn.Flatten(), nn.ReLU(), dense]):
        assert passes(nn.Sequential(*layers), 2, 5, 6) is None
    assert passes(nn.Sequential(dense), 3) is not None
    assert passes(nn.Sequential(nn.Linear(800, 800)), 800) is None
    assert passes(nn.Sequential(dense, nn.ReLU()), 3) is None
    assert passes(Twice(dense), 3) is None


def test_other_poolings_are_left_to_autograd():
    convolution, rest = nn.Conv2d(1, 2, 3), [nn.Flatten(), nn.Linear(18, 2)]
    for pool in (nn.MaxPool2d(3), nn.MaxPool2d(2, stride=1), nn.MaxPool2d(2, ceil_mode=True), nn.AvgPool2d(2)):
        assert passes(nn.Sequential(convolution, nn.ReLU(), pool, *rest), 1, 8, 8) is None
    assert passes(nn.Sequential(convolution, nn.ReLU(), nn.MaxPool2d(2), *rest), 1, 8, 8) is not None
    assert passes(ARCHITECTURES.build("resnet18").build((3, 32, 32), 10), 3, 32, 32) is None


def test_bytes_are_scaled_and_gathered_in_single_precision():
    """Bytes of several channels, in the order of their draws, some twice."""
    rng, shape = np.random.default_rng(0), (3, 16, 16)
    X, y = rng.integers(256, size=(40, *shape)).astype(np.uint8), rng.integers(10, size=40)
    samples = Samples(X, y, [120.0, 110.0, 100.0], [1 / 60, 1 / 70, 1 / 80])
    replica = Replica(ARCHITECTURES.build("lenet").build(shape, 10), shape)
    start, rows = replica.flat.clone(), torch.tensor([7, 3, 39, 7, 0])
    value, grad = replica.passes.value_and_grad(start, samples.source, rows, False)
    plain_value, plain_grad = replica.value_and_grad(start, [samples.gather(rows)], LOSSES["cross-entropy"], len(rows))
    torch.testing.assert_close(value, plain_value)
    torch.testing.assert_close(grad, plain_grad, rtol=1e-4, atol=1e-6)
