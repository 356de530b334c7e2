"""The mean over clients of the Polyak step sizes of their objectives, gamma^(a) of FedSPS, Appendix D.2.2."""

from fedatlas.federation.metrics.base import Metric
from fedatlas.federation.metrics.step_sizes import mean

SPS_MEAN = Metric(name="sps_mean", words="mean Polyak step size", symbol=r"$\gamma^{(a)}$", compute=mean)
