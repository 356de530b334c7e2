"""Copies of a module at different parameters in one pass, since one small network leaves most of a GPU idle."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from fedatlas.federation.networks.dropout import drawing
from fedatlas.federation.networks.losses import Loss
from fedatlas.federation.networks.replica import copy_trained, flatten

WARM_UP = 3  # calls before a CUDA graph is recorded, as torch's documentation asks


class Stacked:
    """m copies of a module as one function of their parameters (m, d).

    On a CUDA device, the kernels of each shape of arguments are recorded once as a CUDA graph and replayed from then
    on, since to start them one by one takes longer than to compute them.

    Args:
        module: Function of its parameters and its input alone.
        loss: Loss of its outputs.
    """

    def __init__(self, module: nn.Module, loss: Loss) -> None:
        self.module, self.loss = copy_trained(module), loss
        self.shapes = {name: p.shape for name, p in self.module.named_parameters() if p.requires_grad}
        self.sizes = [shape.numel() for shape in self.shapes.values()]
        self._mapped = vmap(grad_and_value(self._mean_loss))
        self._recorded: dict[tuple[Any, ...], tuple[torch.cuda.CUDAGraph, tuple[Tensor, ...], tuple[Tensor, ...]]] = {}

    def _mean_loss(self, x: Tensor, data: Tensor, labels: Tensor, *keys: Tensor) -> Tensor:
        parts = zip(self.shapes.items(), x.split(self.sizes), strict=True)
        values = {name: part.view(shape) for (name, shape), part in parts}
        with Convolutions(), drawing(*keys):
            return self.loss.losses(functional_call(self.module, values, (data,)), labels).mean()

    def runs(self, *inputs: Tensor) -> bool:
        """Return whether torch can compute copies of the module in one pass; its layers must not branch on numbers.

        Args:
            inputs: One sample, (1, ...), its label, (1, ...), and its key where there is dropout.
        """
        try:
            self._mapped(*(v.expand(2, *v.shape) for v in (flatten(self.module), *inputs)))
        except RuntimeError:
            return False
        return True

    def value_and_grad(self, y: Tensor, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean losses, (m,), and gradients, (m, d), of each copy; they are valid until the next call.

        Args:
            y: Parameters of each copy, (m, d).
            inputs: Samples of each copy, (m, b, ...), their labels, (m, b, ...), and keys of dropout, (m, b), if any.
        """
        arguments = (y, *inputs)
        if y.device.type != "cuda":
            grad, value = self._mapped(*arguments)
            return value, grad
        key = (y.shape, inputs[0].shape)
        if key not in self._recorded:
            self._recorded[key] = self._record(arguments)
        graph, targets, (grad, value) = self._recorded[key]
        for target, argument in zip(targets, arguments, strict=True):
            target.copy_(argument)
        graph.replay()
        return value, grad

    def _record(self, arguments: tuple[Tensor, ...]) -> tuple[torch.cuda.CUDAGraph, tuple[Tensor, ...], Any]:
        """Return a graph of the kernels, the tensors that it reads, and those that it writes."""
        inputs = tuple(v.clone(memory_format=torch.contiguous_format) for v in arguments)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self._mapped(*inputs)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            outputs = self._mapped(*inputs)
        return graph, inputs, outputs


class Convolutions(TorchFunctionMode):
    """A context in which the layers Conv2d multiply their weights by the windows of their input.

    Under ``vmap`` over weights, torch makes one convolution of as many groups as there are copies, which cuDNN computes
    more slowly than a batched product.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is F.conv2d and len(args) == 7 and not isinstance(args[4], str) and args[6] == 1:
            return _product(*args[:6])
        return func(*args, **(kwargs or {}))


def _product(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
) -> Tensor:
    """Return the convolution of images (b, c, h, w) with weights (o, c, k, l): (b, o, ...)."""
    b, c, *side = x.shape  # noqa: RUF059  all axes have names
    shape, pixels, entries = _places((b, *side), tuple(weight.shape[2:]), stride, padding, dilation, x.device)
    windows = _Windows.apply(x.transpose(0, 1).flatten(1), pixels, entries)
    z = weight.flatten(1) @ windows.reshape(weight[0].numel(), -1)
    images = z.unflatten(1, shape).transpose(0, 1)
    return images if bias is None else images + bias[:, None, None]


class _Windows(torch.autograd.Function):
    """Windows of images (c, pixels): (c, entries). Both directions gather, so no order of sums is left open."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, pixels: Tensor, entries: Tensor) -> Tensor:
        return F.pad(x, (0, 1)).index_select(-1, pixels)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (entries,) = ctx.saved_tensors
        parts = F.pad(grad, (0, 1)).index_select(-1, entries.flatten())
        return parts.unflatten(-1, entries.shape).sum(-1), None, None


@functools.lru_cache(maxsize=64)
def _places(
    images: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    device: torch.device,
) -> tuple[tuple[int, ...], Tensor, Tensor]:
    """Return the shape (b, ...) of a convolution's output, and where its windows lie.

    Args:
        images: Shape of the images, (b, h, w).
        kernel: Shape of the weights, (k, l).
        stride, padding, dilation: Of the convolution.
        device: Of the indices.

    Returns:
        The shape; the pixel of each entry of the windows, (k l b ...,), with b h w for a pixel outside of the image;
        and the entries in which each pixel lies, (b h w, k l), with the number of entries for none.
    """
    pixels = np.arange(np.prod(images)).reshape(images)
    width = [(0, 0), *((p, p) for p in padding)]
    frame = np.pad(pixels, width, constant_values=pixels.size)
    reach = [n - d * (k - 1) for n, d, k in zip(frame.shape[1:], dilation, kernel, strict=True)]
    corners = [(i * dilation[0], j * dilation[1]) for i in range(kernel[0]) for j in range(kernel[1])]
    windows = np.stack([frame[:, i : i + reach[0] : stride[0], j : j + reach[1] : stride[1]] for i, j in corners])
    shape = windows.shape[1:]
    entries = np.full((pixels.size + 1, len(corners)), windows.size)
    for k, window in enumerate(windows.reshape(len(corners), -1)):
        entries[window, k] = np.arange(window.size) + k * window.size
    # mypy does not count what a generator yields
    return shape, *(torch.from_numpy(index).to(device) for index in (windows.flatten(), entries[:-1]))  # type: ignore[return-value]
