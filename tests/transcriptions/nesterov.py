"""Nesterov's accelerated gradient descent (Yuan & Ma 2020, Algorithm 3)."""

import math

from fedatlas.testing.transcriptions import transcription


@transcription("agd")
def agd(world, L, mu):
    kappa = L / mu
    w = w_ag = world.x0
    for t in range(world.T):
        w_md = w / (math.sqrt(kappa) + 1) + math.sqrt(kappa) / (math.sqrt(kappa) + 1) * w_ag
        gradients = [world.G(i, w_md) for i in world.S(t)]
        if gradients:
            g = sum(gradients) / len(gradients)
            w_ag = w_md - g / L
            w = (1 - 1 / math.sqrt(kappa)) * w + w_md / math.sqrt(kappa) - math.sqrt(1 / (L * mu)) * g
        yield w_ag
