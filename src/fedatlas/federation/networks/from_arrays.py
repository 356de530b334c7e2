"""Networks as Python offers them: of plain arrays, any torch module, and lists of the rows of each client."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from torch import nn

from fedatlas.errors import UserError
from fedatlas.federation.networks import device as devices
from fedatlas.federation.networks import network
from fedatlas.federation.networks.samples import Samples
from fedatlas.federation.problems.array_validation import ClientRows, as_array, as_labels, as_partition
from fedatlas.federation.problems.network import NeuralNetwork
from fedatlas.registry.options import construct

Given = Samples | tuple[Any, ArrayLike]


class Network(network.Network):
    """A torch module as a problem: x (d,) is all of its parameters.

    train, test, validation: pairs (X, y) of arrays, (n, features) or images (n, channels, height, width), which the
    module sees as they are, and labels 0, 1, ...; or Samples; the last two may be None. build: called without
    arguments, it gives a fresh module, which torch's global generator initialises. partition: as of `Logistic`.
    options: of the kind ``network``; those that say how data and module are made have no effect. Raises UserError on
    arrays that do not fit, and if the module has buffers or layers that draw random numbers.

    >>> import numpy as np
    >>> from torch import nn
    >>> import fedatlas
    >>> X, y = np.eye(4), np.array([0, 1, 0, 1])
    >>> fedatlas.Network((X, y), lambda: nn.Linear(4, 2), partition=[[0, 1], [2, 3]]).dim
    10
    """

    def __init__(
        self,
        train: Given,
        build: Callable[[], nn.Module],
        test: Given | None = None,
        partition: ClientRows = None,
        validation: Given | None = None,
        **options: Any,
    ) -> None:
        given = construct("problem network", NeuralNetwork, options)
        own = _samples(train, given)
        others = [None if part is None else _samples(part, given) for part in (test, validation)]
        super().__init__(own, build, others[0], as_partition(partition, len(own)), others[1], **options)


def _samples(given: Given, options: NeuralNetwork) -> Samples:
    """Samples, made of arrays where they are given so. Raises UserError on arrays that do not fit."""
    if isinstance(given, Samples):
        return given
    X = given[0] if sparse.issparse(given[0]) else as_array("network: X", given[0])
    if X.ndim not in (2, 4) or X.dtype.kind not in "biuf":
        found = f"has shape {X.shape} and type {X.dtype}"
        raise UserError(f"network: X {found}; it must be numbers (n, features) or (n, channels, height, width)")
    y, _ = as_labels(given[1], X.shape[0])
    X = X.astype(np.float64) if X.dtype == np.uint8 else X  # without a scale, bytes would reach the module as bytes
    return Samples(X, y, dtype=options.dtype, device=devices.choose(options.device))
