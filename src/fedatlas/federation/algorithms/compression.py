"""The base class of algorithms that compress their messages themselves."""

from dataclasses import dataclass
from typing import Any

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.channels import CHANNELS, IDENTITY, Channel
from fedatlas.registry.options import option

WHOLE = CHANNELS.build(IDENTITY)


@dataclass(frozen=True, kw_only=True)
class Compressing(Algorithm):
    """An algorithm whose messages are coded by a compressor, which is a channel, and pass every channel as they are.

    Vectors that are sent whole are coded by the channel ``WHOLE``.
    """

    compressor: str | dict[str, Any] = option(lambda: {"kind": "rand-k", "share": 0.5}, doc="C", family="channel")

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            channel = self.channel
        except UserError as error:
            raise UserError(f"{self.title()}: compressor is {self.compressor!r}; {error}") from None
        if channel.error_feedback:
            raise UserError(f"{self.title()}: compressor is {self.compressor!r}; leave error_feedback out")

    @property
    def channel(self) -> Channel:
        """The compressor."""
        return CHANNELS.build(self.compressor)

    def require_omega(self, d: int) -> float:
        """Return the variance constant of the compressor. Raises UserError if it is not unbiased."""
        if (omega := self.channel.omega(d)) is None:
            raise UserError(
                f"{self.title()} needs an unbiased compressor, such as rand-k, qsgd or natural, and "
                f"{self.channel.name} promises no variance constant omega"
            )
        return omega
