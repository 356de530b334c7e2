"""The architectures of networks. A module here that defines a named `Architecture` is found by itself."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fedatlas.registry.kinds import Family, Kind

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class Architecture(Kind):
    """The architecture of a network. Its fields are its options; torch is imported when a network is built."""

    # The network has layers before its last one.
    has_body: ClassVar[bool] = True

    @abstractmethod
    def build(self, shape: tuple[int, ...], outputs: int) -> "nn.Module":
        """Return a network with fresh parameters, which torch's global generator draws.

        Args:
            shape: Shape of one sample, (channels, height, width) or (features,).
            outputs: Numbers that the network returns for a sample.

        Raises:
            UserError: If the architecture cannot take samples of the shape.
        """


ARCHITECTURES: Family[Architecture] = Family("architecture", __name__, Architecture)
