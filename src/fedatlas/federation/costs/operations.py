"""Operations of the gradient of one sample: additions and multiplications of products, and nothing else."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from torch import Tensor, nn

    from fedatlas.federation.architectures import Architecture

DENSE = 6  # operations per parameter that a sample meets once: 2 forward, 2 backward for it, 2 for its gradient


def per_sample(problem: Any) -> float:
    """Return the operations of the gradient of one sample.

    A problem may say so itself, by an attribute ``operations``. Networks are counted layer by layer. A linear model on
    rows of data multiplies the entries of a row that are not 0 twice with each of its outputs: 4 operations. Where each
    client has a quadratic of its own, a sample is a product with its matrix. For all else it is 6 for each parameter.
    """
    if (operations := getattr(problem, "operations", None)) is not None:
        return float(operations)
    if hasattr(problem, "module"):
        return _of_layers(problem.module, problem.inputs(problem.train.index(np.arange(1)))[0])
    A = getattr(problem, "A", None)
    if problem.clients is not None:
        diagonal = A is not None and np.ndim(A) == 2
        return float(2 * problem.dim * (1 if diagonal else problem.dim))
    if A is None:
        return float(DENSE * problem.dim)
    rows, features = A.shape
    entries = A.nnz / rows if sparse.issparse(A) else features
    return 4.0 * entries * max(1, problem.dim // features)


def of_architecture(architecture: "Architecture", shape: tuple[int, ...], outputs: int) -> float:
    """Return the operations of the gradient of one sample of a network that has no parameters yet.

    Args:
        architecture: Architecture of the network.
        shape: Shape of a sample.
        outputs: Numbers that the network returns for a sample.
    """
    import torch

    with torch.device("meta"):
        return _of_layers(architecture.build(shape, outputs), torch.zeros((1, *shape)))


def _of_layers(module: "nn.Module", data: "Tensor") -> float:
    """Return the operations of layers, forward and backward, as torch counts them."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        module(data).sum().backward()
    module.zero_grad()
    return float(counter.get_total_flops())
