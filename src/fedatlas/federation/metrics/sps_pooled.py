"""The clients' mean loss over their mean squared gradient norm, gamma^(b) of FedSPS, Appendix D.2.2."""

from fedatlas.federation.metrics.base import Metric
from fedatlas.federation.metrics.step_sizes import pooled

SPS_POOLED = Metric(name="sps_pooled", words="pooled Polyak step size", symbol=r"$\gamma^{(b)}$", compute=pooled)
