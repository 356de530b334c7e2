"""Data centres that are spread over the world, as in Marfoq et al. 2020."""

from dataclasses import dataclass

from fedatlas.federation.costs import BITS, OPERATIONS, CostModel
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class CrossSilo(CostModel):
    """Data centres (Marfoq et al. 2020): a GPU of 7 Tflop/s each, and links of 180 Mbit/s at the median, log-normal.

    down and up are fitted to the capacities of the 55 links between the 11 data centres of Amazon in the network
    ``gaia`` of the paper's code. They lie between 100 and 1,500 Mbit/s. Their geometric mean is 179 Mbit/s, and the
    deviation of their logarithms is 0.89.

    The mean length of these links is 9,600 km. Light in a fibre takes 96 ms for the way and back, which is latency.

    compute follows from 25.4 ms for a step of ResNet-18 on 16 images in the paper's code, at 10.9 Gflop an image of
    224 x 224, forward and backward. overhead is its 1.5 ms for a step of a linear model, whose operations take no time.
    """

    name = "cross-silo"
    cite = "marfoq2020"

    compute: float = option(
        7e12, doc="operations that the median client computes in a second", unit=OPERATIONS, above=0
    )
    down: float = option(180e6, doc="rate at which the median client receives", unit=BITS, above=0)
    up: float = option(180e6, doc="rate at which the median client sends", unit=BITS, above=0)
    latency: float = option(0.1, doc="time of an exchange besides that of its numbers: a round trip", unit="s", low=0)
    overhead: float = option(1.5e-3, doc="time of a gradient besides that of its operations", unit="s", low=0)
    down_spread: float = option(0.9, doc="standard deviation of the logarithm of down over clients", low=0)
    up_spread: float = option(0.9, doc="the same of up", low=0)
