"""Nesterov's accelerated gradient descent (Yuan & Ma 2020, Algorithm 3)."""

import math

from fedatlas.testing.transcriptions import transcription


@transcription("agd")
def agd(run, L, mu):
    kappa = L / mu
    w = w_ag = run.x0
    for t in range(run.T):
        w_md = w / (math.sqrt(kappa) + 1) + math.sqrt(kappa) / (math.sqrt(kappa) + 1) * w_ag
        gradients = [run.G(i, w_md) for i in run.S(t)]
        if gradients:
            g = sum(gradients) / len(gradients)
            w_ag = w_md - g / L
            w = (1 - 1 / math.sqrt(kappa)) * w + w_md / math.sqrt(kappa) - math.sqrt(1 / (L * mu)) * g
        yield w_ag
