"""Networks of plain arrays, any torch module, and lists of the rows of each client, for calls in Python."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from torch import Tensor, nn

from fedatlas.errors import UserError
from fedatlas.federation.networks import device as devices
from fedatlas.federation.networks import network
from fedatlas.federation.networks.samples import Samples
from fedatlas.federation.problems.array_validation import (
    ClientRows,
    as_array,
    as_labels,
    as_pair,
    as_partition,
    as_targets,
    as_test_rows,
    require_finite,
)
from fedatlas.federation.problems.network import NeuralNetwork
from fedatlas.registry.options import construct

Data = Samples | tuple[Any, ArrayLike]


class Network(network.Network):
    """A torch module as a problem: x (d,) is all of its parameters but those whose ``requires_grad`` is off.

    Args:
        train: A pair (X, y) of arrays, (n, features) or images (n, channels, height, width), which the module is given
            as they are, and labels 0, 1, ...; or Samples.
        build: Function without arguments that returns a fresh module, which torch's global generator initialises.
        test: Test data as ``train``, or None.
        partition: Rows of each client, as of `Logistic`.
        validation: Data that are held out, or None.
        test_partition: Test rows of each client, as of `Logistic`.
        loss: ``cross-entropy``, ``logistic``, or a function of scores (b, ...) and labels (b, ...), tensors, that
            returns the loss of each sample, (b,). With a function, labels are any numbers (n, ...), as in regression,
            with a label for each position of a text or with weights beside labels, and there is no accuracy.
        **options: Options of the kind ``network``; those that say how to build data and module have no effect.

    Raises:
        UserError: Arrays do not fit, or the module changes a buffer or draws other random numbers than those of
            dropout.

    >>> import numpy as np
    >>> from torch import nn
    >>> import fedatlas
    >>> X, y = np.eye(4), np.array([0, 1, 0, 1])
    >>> fedatlas.Network((X, y), lambda: nn.Linear(4, 2), partition=[[0, 1], [2, 3]]).dim
    10
    """

    def __init__(
        self,
        train: Data,
        build: Callable[[], nn.Module],
        test: Data | None = None,
        partition: ClientRows = None,
        validation: Data | None = None,
        test_partition: ClientRows = None,
        loss: str | Callable[[Tensor, Tensor], Tensor] = "cross-entropy",
        **options: Any,
    ) -> None:
        custom = callable(loss)
        settings = construct("problem network", NeuralNetwork, options if custom else {"loss": loss, **options})
        samples = as_samples(train, settings, custom)
        held_out = [None if part is None else as_samples(part, settings, custom) for part in (test, validation)]
        split = as_partition(partition, len(samples))
        super().__init__(samples, functools.partial(_build, build), held_out[0], split, held_out[1], loss, **options)
        self.part_rows = as_test_rows(test_partition, held_out[0], split)


def _build(build: Callable[[], nn.Module]) -> nn.Module:
    """Return what a user's function builds. Raises UserError if it is not a function, or builds no module."""
    if not callable(build):
        raise UserError(f"network: build is {build!r:.60}; it must be a function that returns a torch module")
    module: object = build()
    if not isinstance(module, nn.Module):
        raise UserError(f"network: build returned {module!r:.60}; it must return a torch module")
    return module


def as_samples(data: Data, options: NeuralNetwork, custom: bool) -> Samples:
    """Return data as Samples, whose labels need be no classes for an own loss. Raises UserError if they do not fit."""
    if isinstance(data, Samples):
        return data
    X, labels = as_pair(data)
    X = X if sparse.issparse(X) else as_array("network: X", X)
    if X.ndim not in (2, 4) or X.dtype.kind not in "biuf":
        raise UserError(
            f"network: X has shape {X.shape} and type {X.dtype}; it must be numbers (n, features) or (n, channels, "
            "height, width)"
        )
    require_finite(X)
    y = as_targets(labels, X.shape[0]) if custom else as_labels(labels, X.shape[0])[0]
    X = X.astype(np.float64) if X.dtype == np.uint8 else X  # without a scale, bytes would reach the module as bytes
    return Samples(X, y, dtype=options.dtype, device=devices.choose(options.device))
