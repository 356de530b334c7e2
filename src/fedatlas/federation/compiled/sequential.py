"""Sequential networks on a processor whose passes are compiled, forward and backward.

On small minibatches autograd and torch's convolutions cost more than the arithmetic.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from fedatlas.federation.compiled.plans import Plan

WEIGHTS = 1 << 19  # of a dense layer, beyond which torch's matrix products are faster


def fuse(module: nn.Module, shape: Sequence[int]) -> "Passes | None":
    """Return the compiled passes of a module, or None if one of its layers has none.

    They are of nn.Sequential on a processor: convolutions of stride 1 with ReLU and 2x2 max pooling, Flatten, then
    Linear layers with ReLU between them or not, none of which has more than WEIGHTS weights.

    Args:
        module: The module.
        shape: Shape of a sample as the module is given it, (channels, height, width) or (features,).
    """
    if type(module) is not nn.Sequential or any(not p.is_cpu for p in module.parameters()):
        return None
    layers: list[Any] = list(module)
    convolutions: list[nn.Conv2d] = []
    dense: list[nn.Linear] = []
    active: set[int] = set()  # dense layers whose inputs ReLU returned
    while _is_pooled_convolution(*layers[:3]):
        convolutions.append(layers[0])
        del layers[:3]
    flat = len(shape) == 1
    for layer in layers:
        if type(layer) is nn.Flatten and repr(layer) == repr(nn.Flatten()):
            flat = True
        elif type(layer) is nn.Linear and flat:
            dense.append(layer)
        elif type(layer) is nn.ReLU and dense:
            active.add(len(dense))
        else:
            return None
    if not dense or len(dense) in active or max(layer.weight.numel() for layer in dense) > WEIGHTS:
        return None
    from fedatlas.federation.compiled.plans import Plan

    return Passes(Plan(module, shape, convolutions, dense, active), dense[0].weight.detach().numpy().dtype)


def _is_pooled_convolution(convolution: Any = None, second: Any = None, third: Any = None) -> bool:
    """Return whether modules are a convolution, and ReLU and pooling in either order, as in ``pooling``."""
    if type(convolution) is not nn.Conv2d or {type(second), type(third)} != {nn.ReLU, nn.MaxPool2d}:
        return False
    c, pool = convolution, second if type(second) is nn.MaxPool2d else third
    plain = (c.stride, c.dilation, c.groups, c.padding_mode) == ((1, 1), (1, 1), 1, "zeros") and c.bias is not None
    square = len(set(c.kernel_size)) == 1 and not isinstance(c.padding, str) and len(set(c.padding)) == 1
    return plain and square and repr(pool) == repr(nn.MaxPool2d(2))


class Passes:
    """The passes of a sequential network, with the workspace of one thread, which the first call allocates.

    Args:
        plan: Layout of the workspace.
        real: Type of the parameters.
    """

    def __init__(self, plan: "Plan", real: np.dtype) -> None:
        from fedatlas.federation.compiled import passes, plans

        self._run, self._dim, self._outputs = passes.run, plan.dim, plan.outputs
        self._behind = max(0, plan.reach - plan.dim)  # numbers that are read behind the last parameter
        self._plan, self._real = plan, real
        self._lanes = plans.LANES
        self._nothing = np.empty(0, real)
        self._compiled = False

    @functools.cached_property
    def _state(self) -> tuple[Any, ...]:
        plan = self._plan
        return (plan.stages, plan.layers), plan.workspace(self._real), plan.numbers

    def scores(self, x: Tensor, source: tuple[Any, ...], rows: Tensor) -> Tensor:
        """Return the scores, (b, outputs), of rows of a source at parameters x, (d,)."""
        scores = x.new_empty(len(rows), self._outputs)
        self._call(x, source, rows, False, self._nothing, scores.view(-1).numpy())
        return scores

    def value_and_grad(self, x: Tensor, source: tuple[Any, ...], rows: Tensor, logistic: bool) -> tuple[Tensor, Tensor]:
        """Return the mean loss over rows of a source and its gradient, a new vector (d,).

        Args:
            x: Parameters, (d,).
            source: Bytes or numbers, labels, and shift and scale of a row of pixels; see `passes.run`.
            rows: Rows, (b,).
            logistic: Whether the loss is the logistic one, otherwise cross-entropy.
        """
        gradient = x.new_empty(self._dim + self._lanes)  # vectors reach behind the last entry
        value = self._call(x, source, rows, logistic, gradient.numpy(), self._nothing)
        return x.new_tensor(value), gradient[: self._dim]

    def _call(
        self, x: Tensor, source: tuple[Any, ...], rows: Tensor, logistic: bool, gradient: np.ndarray, scores: np.ndarray
    ) -> float:
        x = functional.pad(x, (0, self._behind)) if self._behind else x.contiguous()
        arguments = (*self._state, x.numpy(), rows.numpy(), *source, logistic, gradient, scores)
        if not self._compiled:
            from fedatlas.federation.compiled.compilation import compile_in_turn

            compile_in_turn(self._run, arguments)
            self._compiled = True
        return self._run(*arguments)
