"""Networks on prepared data, as specifications ask for them."""

import functools
from typing import TYPE_CHECKING

import torch
from numpy.typing import ArrayLike

from fedatlas.errors import UserError
from fedatlas.federation.architectures import Architecture
from fedatlas.federation.networks import device as devices
from fedatlas.federation.networks.losses import LOSSES
from fedatlas.federation.networks.network import DRAWS, Network
from fedatlas.federation.networks.samples import Samples, channel_moments
from fedatlas.federation.problems.network import NeuralNetwork
from fedatlas.io.machine import require_memory

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset
    from fedatlas.federation.partitions.partition import Partition


def on_data(
    options: NeuralNetwork, train: "Dataset", test: "Dataset | None", partition: "Partition | None"
) -> "Network":
    """Build a Network on prepared data; arguments after the options as of ``NeuralNetwork.build``."""
    device = devices.choose(options.device)
    devices.prepare(device, options.precision)
    images = train.X.ndim == 4
    if options.augment is not None and not images:
        raise UserError("network: augment is for images, which these data are not: leave it out")
    shift: ArrayLike | None = None
    scale: ArrayLike | None = None
    if images:
        shift, scale = channel_moments(train.X) if options.normalise else (None, 1 / train.scale)
    X, y = (test.X, test.y) if test is not None else (train.X_test, train.y_test)
    samples = Samples(train.X, train.y, shift, scale, options.dtype, device)
    held_out = None if X is None or y is None else Samples(X, y, shift, scale, options.dtype, device)
    X, y = train.X_validation, train.y_validation
    validation = None if y is None else Samples(X, y, shift, scale, options.dtype, device)
    outputs = LOSSES[options.loss].outputs(train.classes)
    architecture, shape = options.architecture_kind, tuple(train.X.shape[1:])
    _validate_size(architecture, shape, outputs)
    build = functools.partial(architecture.build, shape, outputs)
    return Network(samples, build, held_out, partition, validation, **vars(options))


def _validate_size(architecture: Architecture, shape: tuple[int, ...], outputs: int) -> None:
    """Raise UserError if a network cannot be built, or its parameters exceed the memory. None is allocated."""
    try:
        with DRAWS, torch.random.fork_rng(devices=[]), torch.device("meta"):
            dim = sum(parameter.numel() for parameter in architecture.build(shape, outputs).parameters())
    except (RuntimeError, TypeError, OverflowError, ZeroDivisionError) as error:
        raise UserError(f"network: there is no {architecture.name} for samples of shape {shape} ({error})") from error
    require_memory(4 * 4 * dim, f"network: a {architecture.name} of {dim:,} parameters", "take a smaller one")
