"""Dropout whose masks are functions of a key of each sample, so that the seed of a run determines them."""

import contextlib
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from fedatlas.errors import UserError

KEYS = 2**31  # of a sample; with key 0 nothing is dropped
BITS = 32  # of the word that is compared with the probability
FACTORS = (-0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15)  # of the hash splitmix64, as signed numbers
STEP = -0x61C8864680B583EB
WHOLE = {F.dropout: False, F.dropout1d: True, F.dropout2d: True, F.dropout3d: True}


class Dropout(TorchFunctionMode):
    """A context in which torch's dropout takes its masks from keys. Without keys it drops nothing, as in evaluations.

    Args:
        keys: Numbers from 0 to KEYS - 1, one for each sample of the minibatch, (b,).

    Attributes:
        calls: How often something was to be dropped.
    """

    def __init__(self, keys: Tensor | None = None) -> None:
        super().__init__()
        self.keys, self.calls = keys, 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in WHOLE:
            return self._drop(WHOLE[func], *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _drop(self, whole: bool, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        """Return what dropout makes of its input. whole: Whether it drops channels; other arguments are torch's."""
        if not training or p == 0:
            return input
        self.calls += 1
        if self.keys is None:
            return input
        b = len(self.keys)
        if input.shape[0] % b:
            raise UserError(
                f"network: dropout of a tensor of shape {tuple(input.shape)}; its first axis must be that of the {b} "
                "samples (batch_first)"
            )
        shape = [*input.shape[:2], *[1] * (input.ndim - 2)] if whole else input.shape
        index = torch.arange(math.prod(shape) // b, device=input.device) + self.calls * KEYS
        words = _hash(_hash(self.keys)[:, None] + index * STEP) & (2**BITS - 1)
        passed = (words >= round(p * 2**BITS)) | (self.keys == 0)[:, None]
        scale = torch.where(self.keys == 0, 1.0, 1 / (1 - p) if p < 1 else 0.0)
        return input * (passed * scale[:, None]).to(input.dtype).reshape(shape)


def drawing(keys: Tensor | None = None) -> contextlib.AbstractContextManager[Any]:
    """Return a context in which dropout takes its masks from keys, (b,); without keys it is torch's as it is."""
    return contextlib.nullcontext() if keys is None else Dropout(keys)


def _hash(v: Tensor) -> Tensor:
    """Return the hash of integers, which wrap around."""
    for shift, factor in zip((30, 27), FACTORS, strict=True):
        v = (v ^ (v >> shift)) * factor
    return v ^ (v >> 31)
