"""The Polyak step size of the mean objective, gamma^(c) of FedSPS, Appendix D.2.2."""

from fedatlas.federation.metrics.base import Metric
from fedatlas.federation.metrics.step_sizes import joint

SPS_JOINT = Metric(name="sps_joint", words="Polyak step size of the mean", symbol=r"$\gamma^{(c)}$", compute=joint)
