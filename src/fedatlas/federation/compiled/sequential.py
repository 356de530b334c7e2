"""Sequential networks on a processor, with gradients written out instead of recorded.

On small minibatches autograd and torch's convolutions cost more than the arithmetic. Here a layer is a function of its
input x. It returns its output and a function ``vjp(g, to_input)``, the vector-Jacobian product of the gradient g by the
output: that adds the gradients of the layer's parameters to their ``grad``, and returns the gradient of x if
``to_input``.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CHANNELS, PATCH = (8, 16), (8, 16, 32)  # lengths of SIMD vectors of channels, and along the rows of a patch
Vjp = Callable[[Tensor, bool], Any]  # returns the gradient of x, or None
Layer = Callable[[Tensor], tuple[Tensor, Vjp]]


class Layers:
    """The layers of a module in their order."""

    def __init__(self, layers: list[Layer]) -> None:
        self._layers = layers

    def forward(self, x: Tensor) -> tuple[Tensor, list[Vjp]]:
        """Return the output of the last layer for the input x, and the vector-Jacobian products of all layers."""
        vjps = []
        for layer in self._layers:
            x, vjp = layer(x)
            vjps.append(vjp)
        return x, vjps

    @staticmethod
    def backward(vjps: list[Vjp], g: Tensor) -> None:
        """Add the gradients with respect to the parameters. g: Gradient with respect to the last output."""
        for k in reversed(range(len(vjps))):
            g = vjps[k](g, k > 0)


def fuse(module: nn.Module) -> Layers | None:
    """Return the layers of a module whose parameters have a ``grad``, or None if one has no gradient written out.

    Written out are, in nn.Sequential: Flatten, Linear, ReLU, and convolutions of stride 1 with 2x2 max pooling and
    ReLU.
    """
    if type(module) is not nn.Sequential or any(not p.is_cpu for p in module.parameters()):
        return None
    layers: list[Layer] = []
    modules: list[Any] = list(module)
    while modules:
        if _is_pooled_convolution(*modules[:3]):
            layers.append(_pooled_convolution(modules[0]))
            del modules[:3]
            continue
        create = {nn.Linear: _linear, nn.ReLU: _relu, nn.Flatten: _flatten}.get(type(modules[0]))
        if create is None or (create is _flatten and repr(modules[0]) != repr(nn.Flatten())):
            return None
        layers.append(create(modules.pop(0)))
    return Layers(layers)


def _grad(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None  # ``fuse`` requires it
    return parameter.grad


def _linear(layer: nn.Linear) -> Layer:
    weight, bias = layer.weight.detach(), None if layer.bias is None else layer.bias.detach()

    def forward(x):
        def vjp(g, to_input):
            rows = g.flatten(0, -2)
            _grad(layer.weight).addmm_(rows.t(), x.flatten(0, -2))
            if bias is not None:
                _grad(layer.bias).add_(rows.sum(dim=0))
            return g @ weight if to_input else None

        return F.linear(x, weight, bias), vjp

    return forward


def _relu(layer: nn.Module) -> Layer:
    def forward(x):
        z = x.clamp_min(0)
        return z, lambda g, to_input: torch.ops.aten.threshold_backward(g, z, 0) if to_input else None

    return forward


def _flatten(layer: nn.Module) -> Layer:
    return lambda x: (x.flatten(1), lambda g, to_input: g.view(x.shape) if to_input else None)


def _is_pooled_convolution(convolution: Any = None, second: Any = None, third: Any = None) -> bool:
    """Return whether modules are a convolution, and ReLU and pooling in either order, as in _pooled_convolution."""
    if type(convolution) is not nn.Conv2d or {type(second), type(third)} != {nn.ReLU, nn.MaxPool2d}:
        return False
    c, pool = convolution, second if type(second) is nn.MaxPool2d else third
    plain = (c.stride, c.dilation, c.groups, c.padding_mode) == ((1, 1), (1, 1), 1, "zeros") and c.bias is not None
    square = len(set(c.kernel_size)) == 1 and not isinstance(c.padding, str) and len(set(c.padding)) == 1
    return plain and square and repr(pool) == repr(nn.MaxPool2d(2))


def _pooled_convolution(convolution: nn.Conv2d) -> Layer:
    from fedatlas.federation.compiled import pooling
    from fedatlas.federation.compiled.compilation import compile_in_turn

    assert convolution.bias is not None  # _is_pooled_convolution requires it
    weight, bias = (p.detach().numpy() for p in (convolution.weight, convolution.bias))
    grads = tuple(_grad(p).numpy() for p in (convolution.weight, convolution.bias))
    outside, inside, k, _ = weight.shape
    padding, real = convolution.padding[0], weight.dtype.type
    channels, patch = _simd(outside, CHANNELS, real), _simd(k * inside, PATCH, real)
    compiled = set()  # functions that this layer has called: all its calls have arguments of the same types

    def call(function, *arguments):
        if function not in compiled:
            compile_in_turn(function, arguments)
            compiled.add(function)
        return function(*arguments)

    def forward(x):
        b, _, height, width = x.shape
        shape = (b, height + 2 * padding, width + 2 * padding, inside)
        images = x.new_zeros(b * shape[1] * shape[2] * inside + pooling.SPARE)
        inner(images, shape).copy_(x)
        images = images.numpy()
        z, chosen = call(pooling.forward, images, shape, weight, bias, channels)

        def vjp(g, to_input):
            padded = g.new_zeros(chosen.shape)
            padded[..., :outside].copy_(g.movedim(1, -1))
            padded = padded.numpy()
            call(pooling.by_weight, images, shape, chosen, padded, grads, channels)
            if to_input:
                return inner(torch.from_numpy(call(pooling.by_image, shape, weight, chosen, padded, patch)), shape)

        return torch.from_numpy(z)[..., :outside].movedim(-1, 1), vjp

    def inner(flat, shape):  # images (b, channels, height, width) without their padding
        images = flat[: flat.numel() - pooling.SPARE].view(shape).movedim(-1, 1)
        return images[:, :, padding : shape[1] - padding, padding : shape[2] - padding]

    return forward


def _simd(count: int, lengths: tuple[int, ...], real: Callable[[int], Any]) -> tuple[Any, ...]:
    """Return a tuple as wide as a SIMD vector: the shortest of some lengths for count numbers, or the longest."""
    return (real(0),) * next((n for n in lengths if n >= count), lengths[-1])
