"""Convolutions as products of matrices, which copies of a module compute as one batched product."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode


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
