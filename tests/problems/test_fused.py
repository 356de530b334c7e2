"""Written-out gradients of sequential networks against autograd through torch's own layers, in float64."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.networks.losses import LOSSES
from fedatlas.federation.networks.replica import Replica

CHANNELS_LAST = torch.channels_last


def both(module, x, y, loss="cross-entropy"):
    """(loss, gradient, outputs) of minibatches x, y, by autograd and fused."""
    results = []
    for plain in (True, False):
        replica = Replica(module)
        assert replica.layers is not None
        if plain:
            replica.layers = None
        parts = [(x[:3], y[:3]), (x[3:], y[3:])]
        value, grad = replica.value_and_grad(replica.flat.clone(), parts, LOSSES[loss], len(x))
        results.append((value, grad, replica.outputs(replica.flat.clone(), x)))
    return results


def agree(module, x, y, loss="cross-entropy"):
    plain, fused = both(module.double(), x, y, loss)
    for a, b in zip(plain, fused, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-13)


def images(rng, *shape):
    return torch.from_numpy(rng.standard_normal(shape)).to(memory_format=CHANNELS_LAST)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["linear", {"kind": "linear", "bias": False}, "mlp", "lenet", "cnn"], ids=str)
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 9, 10), (2, 32, 32)], ids=str)
def test_architectures(kind, shape, loss):
    rng = np.random.default_rng(0)
    module = ARCHITECTURES.build(kind).build(shape, LOSSES[loss].outputs(2))
    agree(module, images(rng, 5, *shape), torch.from_numpy(rng.integers(2, size=5)), loss)


@settings(max_examples=25, deadline=None)  # the first of them compiles
@given(
    st.integers(1, 5), st.integers(1, 18), st.integers(1, 5), st.integers(0, 3), st.integers(0, 5), st.integers(0, 5)
)
def test_convolutions_of_any_shape(inside, outside, k, padding, higher, wider):
    """Two of them: the second also has a gradient by its input."""
    rng = np.random.default_rng(inside + 10 * outside)
    height, width = (2 * k + max(2, k) + more + 1 for more in (higher, wider))
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


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_so(bad):
    module = ARCHITECTURES.build("lenet").build((1, 28, 28), 3).double()
    x = images(np.random.default_rng(0), 4, 1, 28, 28)
    x[0, 0, 14, 14] = bad
    for value, _, scores in both(module, x, torch.tensor([0, 1, 2, 0])):
        assert value.isnan() and scores[0].isnan().all() and scores[1:].isfinite().all()


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(1, 2, 3, stride=2),
        nn.Conv2d(1, 2, 3, padding="same"),
        nn.Conv2d(1, 2, (3, 1)),
        nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect"),
        nn.Conv2d(1, 2, 3, bias=False),
        nn.Conv2d(1, 2, 3, dilation=2),
        nn.Tanh(),
        nn.Flatten(2),
    ],
    ids=str,
)
def test_layers_that_are_not_known_are_left_to_autograd(layer):
    module = nn.Sequential(layer, nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    assert Replica(nn.Sequential(*module, nn.Linear(3, 2))).layers is None


def test_dense_layers_on_the_last_axis():
    """Linear takes rows of any shape."""
    rng = np.random.default_rng(0)
    module = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 5 * 4, 3))
    agree(module, torch.from_numpy(rng.standard_normal((4, 2, 5, 6))), torch.from_numpy(rng.integers(3, size=4)))


def test_a_sequence_with_a_forward_of_its_own_is_left_to_autograd():
    class Twice(nn.Sequential):
        def forward(self, x):
            return 2 * super().forward(x)

    assert Replica(Twice(nn.Linear(3, 2))).layers is None


def test_other_poolings_are_left_to_autograd():
    convolution = nn.Conv2d(1, 2, 3)
    for pool in (nn.MaxPool2d(3), nn.MaxPool2d(2, stride=1), nn.MaxPool2d(2, ceil_mode=True), nn.AvgPool2d(2)):
        assert Replica(nn.Sequential(convolution, nn.ReLU(), pool)).layers is None
    assert Replica(nn.Sequential(convolution, nn.ReLU(), nn.MaxPool2d(2))).layers is not None
    assert Replica(ARCHITECTURES.build("resnet18").build((3, 32, 32), 10)).layers is None
