"""Copies of a module at different parameters in one pass, since one small network leaves most of a GPU idle."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from fedatlas.federation.networks.convolutions import Convolutions
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
