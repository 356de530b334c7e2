from dataclasses import dataclass

from fedatlas.federation.costs import BITS, OPERATIONS, CostModel
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Phone(CostModel):
    """A slow telephone."""

    name = "phone"

    compute: float = option(1e9, doc="operations in a second", unit=OPERATIONS, above=0)
    down: float = option(1e6, doc="rate at which it receives", unit=BITS, above=0)
    up: float = option(1e5, doc="rate at which it sends", unit=BITS, above=0)
