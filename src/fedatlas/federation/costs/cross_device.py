"""Smartphones on their users' networks, as FLASH measured them (Yang et al. 2021)."""

from dataclasses import dataclass

from fedatlas.federation.costs import BITS, OPERATIONS, CostModel
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class CrossDevice(CostModel):
    """Smartphones (Yang et al. 2021): 1 Gflop/s, 42 Mbit/s down and 25 Mbit/s up at the median, and log-normal.

    down and up are fitted to the mean speeds of the 19 users in the file speed_distri.json of FLASH: the geometric
    means are 5,172 and 3,103 KiB/s, and the deviations of the logarithms 0.48 and 0.70.

    compute is fitted to the training times in FLASH of phones of three classes. A minibatch of FEMNIST takes 1642, 588
    and 179 ms; it is taken to be of 10 images, as in FLASH's configuration. An unknown phone is of these classes with
    probabilities 0.532, 0.464 and 0.004. The network has 103 Mflop per image, forward and backward. So phones compute
    0.63, 1.8 and 5.8 Gflop/s; the geometric mean is 1.0, and the deviation of the logarithms 0.52.

    No delay was measured: a latency of 0.1 s is an assumption.
    """

    name = "cross-device"
    cite = "yang2021"

    compute: float = option(1e9, doc="operations that the median client computes in a second", unit=OPERATIONS, above=0)
    down: float = option(42e6, doc="rate at which the median client receives", unit=BITS, above=0)
    up: float = option(25e6, doc="rate at which the median client sends", unit=BITS, above=0)
    latency: float = option(0.1, doc="time of an exchange besides that of its numbers: a round trip", unit="s", low=0)
    compute_spread: float = option(0.5, doc="standard deviation of the logarithm of compute over clients", low=0)
    down_spread: float = option(0.5, doc="the same of down", low=0)
    up_spread: float = option(0.7, doc="the same of up", low=0)
