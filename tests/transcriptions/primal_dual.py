"""FedDyn (Acar et al. 2021, Algorithm 1) and FedPD (Zhang et al. 2021, Algorithm 1 with Oracle I)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


@transcription("feddyn")
def feddyn(run, lr, alpha):
    theta = run.x0
    h = np.zeros_like(theta)
    grad_L = [np.zeros_like(theta)] * run.m
    for t in range(run.T):
        eta = lr * run.decay(t)
        P = run.S(t)
        theta_k = {}
        for k in P:
            local = theta
            for step in range(run.K):
                # gradient of L_k(theta) - <grad L_k(theta_k^{t-1}), theta> + alpha/2 |theta - theta^{t-1}|^2
                local = local - eta * (run.g(t, step, k, local) - grad_L[k] + alpha * (local - theta))
            grad_L[k] = grad_L[k] - alpha * (local - theta)
            theta_k[k] = local
        if len(P):
            h = h - alpha * 1 / run.m * sum(theta_k[k] - theta for k in P)
            theta = sum(theta_k.values()) / len(P) - 1 / alpha * h
        yield theta


@transcription("fedpd")
def fedpd(run, lr, eta, p):
    x_0 = [run.x0] * run.m
    x = [run.x0] * run.m
    lam = [np.zeros_like(run.x0)] * run.m
    for t in range(run.T):
        iterations = run.geometric(t, 1 - p)
        for r in range(iterations):
            x_0_plus = []
            for i in range(run.m):
                for q in range(run.K):
                    k = r * run.K + q
                    gradient = run.g(t, k, i, x[i], iterations * run.K) + lam[i] + 1 / eta * (x[i] - x_0[i])
                    x[i] = x[i] - lr * gradient
                lam[i] = lam[i] + 1 / eta * (x[i] - x_0[i])
                x_0_plus.append(x[i] + eta * lam[i])
            communicate = r == iterations - 1
            x_0 = [sum(x_0_plus) / run.m] * run.m if communicate else x_0_plus
        yield x_0[0]
