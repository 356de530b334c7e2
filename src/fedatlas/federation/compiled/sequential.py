"""Sequential networks on a processor, with gradients written out instead of recorded.

On small minibatches autograd and torch's convolutions cost more than the arithmetic. Here a layer is a function that
takes its input x to its output and a function ``vjp``, the vector-Jacobian product: given the gradient by the output,
that adds the gradients of the layer's parameters to their ``grad`` and returns the gradient of x if ``wanted``.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CHANNELS, PATCH = (8, 16), (8, 16, 32)  # lengths of SIMD vectors of channels, and along the rows of a patch
Vjp = Callable[[Tensor, bool], Any]  # the gradient of x, or None where it is not wanted
Layer = Callable[[Tensor], tuple[Tensor, Vjp]]


class Layers:
    """The layers of a module in their order."""

    def __init__(self, layers: list[Layer]) -> None:
        self._layers = layers

    def forward(self, x: Tensor) -> tuple[Tensor, list[Vjp]]:
        """What the layers make of x, and their vector-Jacobian products."""
        vjps = []
        for layer in self._layers:
            x, vjp = layer(x)
            vjps.append(vjp)
        return x, vjps

    @staticmethod
    def backward(vjps: list[Vjp], g: Tensor) -> None:
        """Add the gradients with respect to the parameters. g: the gradient with respect to the last output."""
        for place in reversed(range(len(vjps))):
            g = vjps[place](g, place > 0)


def fuse(module: nn.Module) -> Layers | None:
    """The layers of a module whose parameters have a ``grad``, or None if some of it is unknown here.

    Known are, in nn.Sequential: Flatten, Linear, ReLU, and convolutions of stride 1 with 2x2 max pooling and ReLU.
    """
    if type(module) is not nn.Sequential or any(not p.is_cpu for p in module.parameters()):
        return None
    found: list[Layer] = []
    rest: list[Any] = list(module)
    while rest:
        if _pools(*rest[:3]):
            found.append(_pooled(rest[0]))
            del rest[:3]
            continue
        made = {nn.Linear: _linear, nn.ReLU: _relu, nn.Flatten: _flatten}.get(type(rest[0]))
        if made is None or (made is _flatten and repr(rest[0]) != repr(nn.Flatten())):
            return None
        found.append(made(rest.pop(0)))
    return Layers(found)


def _grad(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None  # as ``fuse`` asks for
    return parameter.grad


def _linear(layer: nn.Linear) -> Layer:
    weight, bias = layer.weight.detach(), None if layer.bias is None else layer.bias.detach()

    def forward(x):
        def vjp(g, wanted):
            rows = g.flatten(0, -2)
            _grad(layer.weight).addmm_(rows.t(), x.flatten(0, -2))
            if bias is not None:
                _grad(layer.bias).add_(rows.sum(dim=0))
            return g @ weight if wanted else None

        return F.linear(x, weight, bias), vjp

    return forward


def _relu(layer: nn.Module) -> Layer:
    def forward(x):
        z = x.clamp_min(0)
        return z, lambda g, wanted: torch.ops.aten.threshold_backward(g, z, 0) if wanted else None

    return forward


def _flatten(layer: nn.Module) -> Layer:
    return lambda x: (x.flatten(1), lambda g, wanted: g.view(x.shape) if wanted else None)


def _pools(convolution: Any = None, one: Any = None, other: Any = None) -> bool:
    """Whether three layers are a convolution, ReLU and pooling in either order, such as ``_pooled`` computes."""
    if type(convolution) is not nn.Conv2d or {type(one), type(other)} != {nn.ReLU, nn.MaxPool2d}:
        return False
    c, pool = convolution, one if type(one) is nn.MaxPool2d else other
    plain = (c.stride, c.dilation, c.groups, c.padding_mode) == ((1, 1), (1, 1), 1, "zeros") and c.bias is not None
    square = len(set(c.kernel_size)) == 1 and not isinstance(c.padding, str) and len(set(c.padding)) == 1
    return plain and square and repr(pool) == repr(nn.MaxPool2d(2))


def _pooled(convolution: nn.Conv2d) -> Layer:
    from fedatlas.federation.compiled import pooling

    assert convolution.bias is not None  # as ``_pools`` asks for
    weight, bias = (p.detach().numpy() for p in (convolution.weight, convolution.bias))
    grads = tuple(_grad(p).numpy() for p in (convolution.weight, convolution.bias))
    outside, inside, k, _ = weight.shape
    padding, real = convolution.padding[0], weight.dtype.type
    channels, patch = _simd(outside, CHANNELS, real), _simd(k * inside, PATCH, real)

    def forward(x):
        b, _, height, width = x.shape
        shape = (b, height + 2 * padding, width + 2 * padding, inside)
        images = x.new_zeros(b * shape[1] * shape[2] * inside + pooling.SPARE)
        inner(images, shape).copy_(x)
        images = images.numpy()
        z, chosen = pooling.forward(images, shape, weight, bias, channels)

        def vjp(g, wanted):
            padded = g.new_zeros(chosen.shape)
            padded[..., :outside].copy_(g.movedim(1, -1))
            padded = padded.numpy()
            pooling.by_weight(images, shape, chosen, padded, grads, channels)
            if wanted:
                return inner(torch.from_numpy(pooling.by_image(shape, weight, chosen, padded, patch)), shape)

        return torch.from_numpy(z)[..., :outside].movedim(-1, 1), vjp

    def inner(flat, shape):  # images (b, channels, height, width) without what is around them
        images = flat[: flat.numel() - pooling.SPARE].view(shape).movedim(-1, 1)
        return images[:, :, padding : shape[1] - padding, padding : shape[2] - padding]

    return forward


def _simd(count: int, lengths: tuple[int, ...], real: Callable[[int], Any]) -> tuple[Any, ...]:
    """A tuple as wide as a vector: the shortest of some lengths that holds count numbers, or the longest."""
    return (real(0),) * next((n for n in lengths if n >= count), lengths[-1])
