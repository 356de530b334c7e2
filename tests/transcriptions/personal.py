"""Ditto and FedRep, whose clients have models of their own."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


@transcription("ditto")
def ditto(run, lr, server_lr, weight):
    w, v = run.x0, dict.fromkeys(range(run.m), run.x0)
    for t in range(run.T):
        eta = lr * run.decay(t)
        updates = []
        for i in run.S(t):
            y = w
            for k in range(run.K):
                y = y - eta * run.g(t, k, i, y)
            for k in range(run.K):
                v[i] = v[i] - eta * (run.g(t, k, i, v[i]) + weight * (v[i] - w))
            updates.append(y - w)
        if updates:
            w = w + server_lr * sum(updates) / len(updates)
        yield w


@transcription("fedrep")
def fedrep(run, lr, body_steps, head):
    d = len(run.x0)
    phi, mean_head, h = run.x0[: d - head], run.x0[d - head :], dict.fromkeys(range(run.m), run.x0[d - head :])
    for t in range(run.T):
        alpha = lr * run.decay(t)
        bodies = []
        for i in run.S(t):
            phi_i = phi
            for k in range(run.K - body_steps):
                h[i] = h[i] - alpha * run.g(t, k, i, np.concatenate([phi, h[i]]))[d - head :]
            for k in range(run.K - body_steps, run.K):
                phi_i = phi_i - alpha * run.g(t, k, i, np.concatenate([phi_i, h[i]]))[: d - head]
            bodies.append(phi_i)
        if bodies:
            phi = sum(bodies) / len(bodies)
            mean_head = sum(h[i] for i in run.S(t)) / len(bodies)
        yield np.concatenate([phi, mean_head])
