"""Servers with momentum or adaptive steps (Hsu et al. 2019, Reddi et al. 2021, Wang et al. 2022)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def change(run, t, x, lr):
    """The mean over active clients of x_K - x after K steps of SGD, or None if no client is active."""
    changes = []
    for i in run.S(t):
        x_i = x
        for k in range(run.K):
            x_i = x_i - lr * run.decay(t) * run.g(t, k, i, x_i)
        changes.append(x_i - x)
    return sum(changes) / len(changes) if changes else None


@transcription("fedavgm")
def fedavgm(run, lr, server_lr, beta):
    # Hsu et al. 2019, Section 4.3: v <- beta v + Delta w;  w <- w - v
    x, v = run.x0, np.zeros_like(run.x0)
    for t in range(run.T):
        delta = change(run, t, x, lr)
        if delta is not None:
            v = beta * v - delta
            x = x - server_lr * v
        yield x


@transcription("fedadam")
def fedadam(run, lr, server_lr, beta1, beta2, eps, first_v):
    # Reddi et al. 2021, Algorithm 2, v_{-1} = tau^2; 0 in the code of FedSpeed's authors
    x = run.x0
    m, v = np.zeros_like(x), np.full_like(x, eps**2 if first_v is None else first_v)
    for t in range(run.T):
        delta = change(run, t, x, lr)
        if delta is not None:
            m = beta1 * m + (1 - beta1) * delta
            v = beta2 * v + (1 - beta2) * delta**2
            x = x + server_lr * m / (np.sqrt(v) + eps)
        yield x


@transcription("fedyogi")
def fedyogi(run, lr, server_lr, beta1, beta2, eps, first_v):
    # Reddi et al. 2021, Algorithm 2
    x = run.x0
    m, v = np.zeros_like(x), np.full_like(x, eps**2 if first_v is None else first_v)
    for t in range(run.T):
        delta = change(run, t, x, lr)
        if delta is not None:
            m = beta1 * m + (1 - beta1) * delta
            v = v - (1 - beta2) * delta**2 * np.sign(v - delta**2)
            x = x + server_lr * m / (np.sqrt(v) + eps)
        yield x


@transcription("fedadagrad")
def fedadagrad(run, lr, server_lr, beta1, eps, first_v):
    # Reddi et al. 2021, Algorithm 2
    x = run.x0
    m, v = np.zeros_like(x), np.full_like(x, eps**2 if first_v is None else first_v)
    for t in range(run.T):
        delta = change(run, t, x, lr)
        if delta is not None:
            m = beta1 * m + (1 - beta1) * delta
            v = v + delta**2
            x = x + server_lr * m / (np.sqrt(v) + eps)
        yield x


@transcription("fedams")
def fedams(run, lr, server_lr, beta1, beta2, eps, first_v):
    # Wang et al. 2022, Algorithm 1, option 1
    x = run.x0
    m, v, v_hat = np.zeros_like(x), np.full_like(x, first_v), np.zeros_like(x)
    for t in range(run.T):
        delta = change(run, t, x, lr)
        if delta is not None:
            m = beta1 * m + (1 - beta1) * delta
            v = beta2 * v + (1 - beta2) * delta**2
            v_hat = np.array([max(old, new, eps) for old, new in zip(v_hat, v, strict=True)])
            x = x + server_lr * m / np.sqrt(v_hat)
        yield x
