"""FedCM (Xu et al. 2021, Algorithm 2) and FedADMM (Wang et al. 2022, Algorithm 1)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


@transcription("fedcm")
def fedcm(run, lr, server_lr, alpha, decoupled):
    # decoupled as in the code of FedSpeed's authors: torch's SGD adds weight decay to what the client has made of g
    x = run.x0
    momentum = np.zeros_like(x)
    for t in range(run.T):
        eta = lr * run.decay(t)
        sums = []
        for i in run.S(t):
            x_ik = x
            for k in range(run.K):
                v = alpha * (run.g(t, k, i, x_ik) - decoupled * x_ik) + (1 - alpha) * momentum
                x_ik = x_ik - eta * (v + decoupled * x_ik)
            sums.append(x - x_ik)
        if sums:
            momentum = sum(sums) / (eta * run.K * len(sums))
            x = x - server_lr * eta * run.K * momentum
        yield x


@transcription("fedadmm")
def fedadmm(run, lr, server_lr, rho):
    # with the default server step, theta is Wang et al.'s mean of all clients' last w + y / rho
    theta = run.x0
    w = [theta.copy() for _ in range(run.m)]
    y = [np.zeros_like(theta) for _ in range(run.m)]
    for t in range(run.T):
        eta = lr * run.decay(t)
        deltas = []
        for i in run.S(t):
            old = w[i] + y[i] / rho
            w_i = theta
            for k in range(run.K):  # inexact minimisation of f_i(w) + <y_i, w - theta> + rho/2 |w - theta|^2
                w_i = w_i - eta * (run.g(t, k, i, w_i) + y[i] + rho * (w_i - theta))
            w[i] = w_i
            y[i] = y[i] + rho * (w_i - theta)
            deltas.append(w[i] + y[i] / rho - old)
        if deltas:
            if server_lr is None:
                theta = sum(w[i] + y[i] / rho for i in range(run.m)) / run.m
            else:
                theta = theta + server_lr / len(deltas) * sum(deltas)
        yield theta
