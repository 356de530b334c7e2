"""FedNova, the coordinate-wise median and FedExP."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def changes(run, t, lr, x):
    """Changes of all active clients, with their numbers of local steps."""
    out = []
    for i in run.S(t):
        y = x
        for k in range(run.K):
            y = y - lr * run.decay(t) * run.g(t, k, i, y)
        out.append(y - x)
    return out


@transcription("fednova")
def fednova(run, lr, server_lr, weights):
    assert weights == "equal"  # sizes and unequal numbers of steps: tests/algorithms/test_aggregation.py
    x = run.x0
    for t in range(run.T):
        updates = changes(run, t, lr, x)
        if updates:
            p_i, tau = 1 / len(updates), [run.K] * len(updates)
            tau_eff = sum(p_i * tau_i for tau_i in tau)
            x = x + server_lr * tau_eff * sum(p_i * u / tau_i for u, tau_i in zip(updates, tau, strict=True))
        yield x


@transcription("median")
def median(run, lr, server_lr):
    x = run.x0
    for t in range(run.T):
        updates = changes(run, t, lr, x)
        if updates:
            middle = []
            for j in range(len(x)):
                values = sorted(u[j] for u in updates)
                half = len(values) // 2
                middle.append(values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2)
            x = x + server_lr * np.array(middle)
        yield x


@transcription("fedexp")
def fedexp(run, lr, eps, averaged):
    assert not averaged
    w = run.x0
    for t in range(run.T):
        updates = changes(run, t, lr, w)
        if updates:
            M = len(updates)
            mean = sum(updates) / M
            eta_g = max(1, sum(u @ u for u in updates) / (2 * M * (mean @ mean + eps)))
            w = w + eta_g * mean
        yield w
