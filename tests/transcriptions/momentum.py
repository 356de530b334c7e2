"""FedCM (Xu et al. 2021, Algorithm 2) and FedADMM (Wang et al. 2022, Algorithm 1)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


@transcription("fedcm")
def fedcm(world, lr, server_lr, alpha, decoupled):
    # decoupled as in the code of FedSpeed's authors: torch's SGD adds weight decay to what the client has made of g
    x = world.x0
    momentum = np.zeros_like(x)
    for t in range(world.T):
        eta = lr * world.decay(t)
        sums = []
        for i in world.S(t):
            x_ik = x
            for k in range(world.K):
                v = alpha * (world.g(t, k, i, x_ik) - decoupled * x_ik) + (1 - alpha) * momentum
                x_ik = x_ik - eta * (v + decoupled * x_ik)
            sums.append(x - x_ik)
        if sums:
            momentum = sum(sums) / (eta * world.K * len(sums))
            x = x - server_lr * eta * world.K * momentum
        yield x


@transcription("fedadmm")
def fedadmm(world, lr, server_lr, rho):
    theta = world.x0
    w = [theta.copy() for _ in range(world.m)]
    y = [np.zeros_like(theta) for _ in range(world.m)]
    for t in range(world.T):
        eta = lr * world.decay(t)
        deltas = []
        for i in world.S(t):
            old = w[i] + y[i] / rho
            w_i = theta
            for k in range(world.K):  # inexact minimisation of f_i(w) + <y_i, w - theta> + rho/2 |w - theta|^2
                w_i = w_i - eta * (world.g(t, k, i, w_i) + y[i] + rho * (w_i - theta))
            w[i] = w_i
            y[i] = y[i] + rho * (w_i - theta)
            deltas.append(w[i] + y[i] / rho - old)
        if deltas:
            theta = theta + server_lr / len(deltas) * sum(deltas)
        yield theta
