"""Neural networks: options of the problem; `fedatlas.federation.networks.network.Network` computes it."""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.errors import UserError
from fedatlas.federation.architectures import ARCHITECTURES, Architecture
from fedatlas.federation.problems import DataKind
from fedatlas.federation.problems.base import VALIDATION, Problem
from fedatlas.federation.problems.rows import WEIGHTS_DOC, Weights
from fedatlas.registry.options import construct, option

if TYPE_CHECKING:
    from fedatlas.data.dataset import Contents, Dataset
    from fedatlas.federation.partitions.partition import Partition


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """Random crops of padded images and horizontal flips (He et al. 2016, Section 4.2).

    An image-sized window of the padded image is taken; padding is 0 after normalisation, the mean colour.
    """

    crop: int = option(0, doc="padding on every side: 4 for 32x32 images, 8 for 64x64", unit="pixels", low=0)
    flip: bool = option(False, doc="whether every second image is mirrored")

    @property
    def variants(self) -> int:
        """Number of ways in which an image may be augmented."""
        return (2 * self.crop + 1) ** 2 * (1 + self.flip)


@dataclass(frozen=True, kw_only=True)
class NeuralNetwork(DataKind):
    """A neural network in torch, on images or any other data; x holds all of its trained parameters."""

    name = "network"
    constants = ("mu", "head")
    reports = ("loss", "accuracy", "test_loss", "test_accuracy", *VALIDATION)
    oracle = "fedatlas.federation.networks.network"

    architecture: str | dict[str, Any] = option("mlp", doc="the network's architecture", family="architecture")
    loss: Literal["cross-entropy", "logistic"] = option(
        "cross-entropy", doc="loss of a sample; logistic is for two classes and one output"
    )
    l2: float = option(0.0, doc="weight decay: adds l2/2 |x|^2 to the loss and l2 x to its gradient", low=0)
    weights: Weights = option("equal", doc=WEIGHTS_DOC)
    normalise: bool = option(
        True,
        doc="whether each channel's mean over the training images is subtracted and its standard deviation divided "
        "out; otherwise images are scaled to [0, 1]. Data that are not images are taken as they are",
    )
    dtype: Literal["float32", "float64"] = option("float32", doc="type of parameters and computation")
    device: Literal["cpu", "cuda", "auto"] = option("cpu", doc="where it is computed; auto is cuda where there is one")
    precision: Literal["float32", "tf32"] = option(
        "float32",
        doc="of products: tf32 rounds their factors to 10 bits on the tensor cores of a GPU",
    )
    augment: dict[str, Any] | None = option(None, doc="crop and flip of minibatches of images, such as {crop: 4}")
    start_scale: float | None = option(
        None, doc="x0 ~ N(0, start_scale^2) in every coordinate; by default torch's initialisation", low=0
    )
    eval_samples: int | Literal["all"] = option(
        10_000, doc="training rows that are evaluated, the same in all runs", low=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.precision != "float32" and self.dtype != "float32":
            raise UserError(f"network: precision {self.precision} is for parameters in float32, not {self.dtype}")
        _ = self.architecture_kind, self.augmentation  # raises UserError where they do not fit

    def available_constants(self) -> tuple[str, ...]:
        return self.constants if self.architecture_kind.has_body else ("mu",)

    @property
    def architecture_kind(self) -> Architecture:
        """Architecture with its options."""
        return ARCHITECTURES.build(self.architecture)

    @property
    def augmentation(self) -> Augmentation | None:
        """Augmentation of minibatches of images, or None."""
        return None if self.augment is None else construct("augment", Augmentation, self.augment)

    def validate_data(self, train: "Contents | Dataset") -> None:
        if self.loss == "logistic" and train.classes != 2:
            raise UserError(f"network: the loss 'logistic' needs two classes, the data have {train.classes}")

    def provenance(self) -> dict[str, Any]:
        """Return the clock of seconds, the name of the device and the version of torch."""
        # by name, as the oracle below: the room of networks stands on this one, and torch takes seconds to import
        devices = importlib.import_module("fedatlas.federation.networks.device")
        clock = "processor" if devices.choose(self.device).type == "cpu" else "wall"
        return {"clock": clock, "device": devices.describe(self.device), "torch": devices.VERSION}

    def build(self, train: "Dataset", test: "Dataset | None", partition: "Partition | None") -> Problem:
        """Build the problem on prepared data.

        Raises:
            UserError: The data, or the device, do not fit the options.
        """
        self.validate_data(train)
        return importlib.import_module(self.oracle).on_data(self, train, test, partition)
